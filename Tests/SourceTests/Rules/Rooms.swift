#if os(Linux)
/// The folders of a target that may use each other. CONTRIBUTING.md has the same table.
struct Rooms: Sendable {
    let target: String
    /// A folder only uses folders before it. `top` is the target's own folder, without its subfolders.
    let order: [String]
    /// Known exceptions: by folder, the folders that it uses but shouldn't. This list may only get shorter.
    let notYet: [String: [String]]

    static let all = [
        Rooms(target: "Guarded", order: ["top"], notYet: [:]),
        Rooms(target: "HTTPSyntax", order: ["top"], notYet: [:]),
        Rooms(
            target: "LocalSubstitution",
            order: [
                "Text", "Files", "HTTP", "Network", "Map", "Observing", "Answering", "Protocol", "top",
            ],
            notYet: [:]
        ),
        Rooms(target: "MapWriting", order: ["top"], notYet: [:]),
        Rooms(target: "LocalSubstitutionRecording", order: ["top"], notYet: [:]),
        Rooms(
            target: "MapTools",
            order: ["Warnings", "Editing", "Recordings", "HTTPArchive", "Comparing"],
            notYet: [:]
        ),
        Rooms(target: "LocalSubstitutionTesting", order: ["top"], notYet: [:]),
        Rooms(target: "WebReferences", order: ["top"], notYet: [:]),
        Rooms(target: "Loopback", order: ["top"], notYet: [:]),
        Rooms(target: "LocalSubstitutionServer", order: ["top"], notYet: [:]),
        Rooms(
            target: "substitute",
            order: ["CommandLine", "Loading", "Demo", "Subcommands", "top"],
            notYet: [:]
        ),
    ]
}
#endif
