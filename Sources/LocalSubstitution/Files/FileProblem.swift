import Foundation

/// Why a file of the resources folder can't be served.
package enum FileProblem: Error, Hashable, Sendable {
    case missing
    case outside
    case notRegular(FileStatus.Kind)
    case notFolder
    case unreadable(errno: Int32)
    /// The system doesn't tell where the opened file is.
    case unplaced
    /// The file was written to while it was read in pieces.
    case written
    /// The resources folder is the map's own folder, and the file is the map or hidden.
    case notServed

    /// What is wrong with the file, to be put after its name.
    package var message: String {
        switch self {
        case .missing: "does not exist"
        case .outside: "is outside the resources folder"
        case .notRegular(let kind): "is \(kind.name), not a regular file"
        case .notFolder: "is not a folder"
        case .unreadable(let code): "can't be read: \(String(cString: strerror(code)))"
        case .notServed:
            "is the map or a hidden file, and never served: put the entries' files into a folder “Resources” beside the map"
        case .written: "was changed while it was sent: load it again"
        case .unplaced: "can't be read, since its real path is unknown: on Linux, mount /proc"
        }
    }
}
