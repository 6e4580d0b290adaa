/// The version that the command prints.
enum CommandVersion {
    static let text = "0.1.0"
}
