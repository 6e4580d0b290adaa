import Foundation

/// Why a file of the resources folder can't be served.
package enum FileProblem: Error, Equatable, Sendable {
    case missing
    case outside
    case notRegular(FileStatus.Kind)
    case notFolder
    case unreadable(errno: Int32)
    /// The system can't tell the opened file's path, so the file may be outside the folder.
    case unplaced
    /// The file was written to while it was read.
    case written
    /// The resources folder is the map's own folder, and the file is the map or hidden.
    case notServed

    /// What's wrong and what to do. The text follows the file's name, and ends with a period.
    package var message: String { predicate.sentences(withAdvice: advice) }

    /// ``message`` without a period, for a label or the middle of a sentence.
    package var fragment: String { predicate.fragment(withAdvice: advice) }

    private var predicate: String {
        switch self {
        case .missing: "doesn't exist"
        case .outside: "leads outside the resources folder"
        case .notRegular(let kind): "is \(kind.name), not a regular file"
        case .notFolder: "isn't a folder"
        case .unreadable(let code): "can't be read: \(String(cString: strerror(code)))"
        case .notServed: "is the map or a hidden file, so it's never served"
        case .written: "changed while it was being read"
        case .unplaced: "can't be read, because its real path is unknown"
        }
    }

    private var advice: String? {
        switch self {
        case .outside: "replace the link with a copy"
        case .notFolder: "name a folder"
        case .notServed: "put the entries' files into a folder “Substitutes” beside the map"
        case .written: "try again"
        case .unplaced: "on Linux, mount /proc"
        default: nil
        }
    }
}
