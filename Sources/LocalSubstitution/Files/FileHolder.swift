/// Holds the bytes of files in memory, and of what answers in place of them.
protocol FileHolder: Sendable {
    /// The bytes of a file: those that are held if they still are the file's, else read now.
    func file(_ name: String, in folder: ResourcesFolder) throws(FileProblem) -> FileBytes
    /// The bytes that are held of a file, if they certainly are the file's.
    func currentFile(at path: String) -> FileBytes?
    /// The bytes that are held at a place: a file's path, or another name.
    func file(at place: String) -> FileBytes?
    /// Holds bytes in place of those that were there.
    func hold(_ file: FileBytes, at place: String)
    /// Releases what is held at a place.
    func release(_ place: String)
}
