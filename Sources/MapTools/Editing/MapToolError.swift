import Foundation
import LocalSubstitution
import MapWriting

/// Why a map can't be changed or an archive can't be read, and what to do.
package struct MapToolError: Error, CustomStringConvertible {
    package let description: String

    init(_ message: String) { description = message.printable }

    init(_ problem: WrittenFolder.Problem) { self.init(problem.message) }
}
