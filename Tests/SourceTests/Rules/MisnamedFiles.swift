#if os(Linux)
/// Files that aren't named for what they declare: this may only become less.
enum MisnamedFiles {
    /// By the file's name: `file`, where it declares nothing of its name, and the types that aren't private in it.
    static let notYet: [String: [String]] = [:]
}
#endif
