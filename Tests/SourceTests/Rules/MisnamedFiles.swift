#if os(Linux)
/// Files that aren't named for what they declare. This list may only get shorter.
enum MisnamedFiles {
    /// By file name: `file` if the file declares nothing with its name, and the types in it that should be private.
    static let notYet: [String: [String]] = [:]
}
#endif
