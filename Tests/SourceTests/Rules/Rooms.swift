#if os(Linux)
/// Which folders of a target may use which. CONTRIBUTING.md has the same table.
struct Rooms: Sendable {
    let target: String
    /// A folder uses only folders before it. `top` is the target's own folder, without those in it.
    let order: [String]
    /// What is still wrong: it may only become less. By folder, the folders that it uses and should not.
    let notYet: [String: [String]]

    static let all = [
        Rooms(target: "Guarded", order: ["top"], notYet: [:]),
        Rooms(
            target: "LocalSubstitution",
            order: [
                "Text", "Files", "HTTP", "Network", "Map", "Observing", "Updating", "Answering", "Recorder", "Protocol",
                "top",
            ],
            notYet: [:]
        ),
        Rooms(target: "MapTools", order: ["Editing", "HTTPArchive", "Recording", "Comparing"], notYet: [:]),
        Rooms(target: "LocalSubstitutionTesting", order: ["top"], notYet: [:]),
        Rooms(target: "WebReferences", order: ["top"], notYet: [:]),
        Rooms(target: "Loopback", order: ["top"], notYet: [:]),
        Rooms(target: "LocalSubstitutionServer", order: ["top"], notYet: [:]),
        Rooms(target: "LoopbackOrigin", order: ["top"], notYet: [:]),
        Rooms(
            target: "substitute",
            order: ["CommandLine", "Maps", "Loading", "Page", "Demo", "Serve", "Subcommands", "top"],
            notYet: [:]
        ),
    ]
}
#endif
