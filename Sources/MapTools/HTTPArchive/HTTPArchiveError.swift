import LocalSubstitution

/// Why a file can't be read as an HTTP Archive.
package struct HTTPArchiveError: Error, CustomStringConvertible {
    let message: String
    package var description: String { message.printable }

    init(_ message: String) { self.message = message }
}
