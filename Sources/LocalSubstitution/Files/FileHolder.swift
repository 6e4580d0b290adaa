/// A type that holds the bytes of files, and of newer copies that replace them, in memory.
protocol FileHolder: Sendable {
    /// Returns a file's bytes: the held ones if they're current, otherwise newly read ones.
    func file(_ name: String, in folder: ResourcesFolder) throws(FileProblem) -> FileBytes
    /// Returns a file's held bytes if they're certainly current.
    func currentFile(at path: String) -> FileBytes?
    /// Returns the bytes that are held at a place: a file's path, or another name.
    func file(at place: String) -> FileBytes?
    /// Holds bytes at a place, and releases those that were held there.
    func hold(_ file: FileBytes, at place: String)
    /// Releases the bytes that are held at a place.
    func release(_ place: String)
}
