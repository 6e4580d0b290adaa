import Foundation

/// Why a file of the resources folder can't be served. Each text follows the file's name. The kinds are those of
/// ``SubstitutionMap/Problem``s.
extension Complaint {
    package static let missingFile = Complaint(kind: "missingFile", "doesn't exist", fix: "")
    package static let outsideFolder = Complaint(
        kind: "outsideFolder",
        "leads outside the resources folder",
        fix: "Replace the link with a copy."
    )
    static func notRegularFile(_ kind: FileStatus.Kind) -> Complaint {
        Complaint(kind: "notRegularFile", "is \(kind.name), not a regular file", fix: "")
    }
    static let notFolder = Complaint(kind: "notRegularFile", "isn't a folder", fix: "Name a folder.")
    /// - Parameter code: The system's error number.
    static func unreadableFile(_ code: Int32) -> Complaint {
        Complaint(kind: "unreadableFile", "can't be read: \(String(cString: strerror(code)))", fix: "")
    }
    /// The system can't tell the opened file's path, so the file may be outside the folder.
    static let unplacedFile = Complaint(
        kind: "unreadableFile",
        "can't be read, because its real path is unknown",
        fix: "On Linux, mount /proc."
    )
    /// The file was written to while it was read.
    static let writtenFile = Complaint(kind: "unreadableFile", "changed while it was being read", fix: "Try again.")
    /// The resources folder is the map's own folder, and the file is the map or hidden.
    static let unservedFile = Complaint(
        kind: "invalidFileName",
        "is the map or a hidden file, so it's never served",
        fix: "Put the entries' files into a folder “Substitutes” beside the map."
    )
}
