/// Suggestions of existing files and folders for names of missing ones.
struct FileSuggestions {
    private let folder: ResourcesFolder?
    private lazy var files = Names(folder?.names(limit: 10_000) ?? [])
    private lazy var folders = Names(Set(files.all.flatMap { Self.folders(above: $0) }).sorted())
    /// For a folder in a bundle: how the tools that make bundles may have moved the files.
    private let bundleAdvice: String
    /// How many more suggestions to make. More than a hundred don't help.
    private var left = 100

    init(in folder: ResourcesFolder?) {
        self.folder = folder
        bundleAdvice =
            folder?.isInBundle == true
            ? " Xcode groups and `.process` flatten folders. Use a folder reference or `.copy`." : ""
    }

    mutating func suggestion(for name: String) -> (advice: String, meant: String?) {
        guard left > 0 else { return ("", nil) }
        left -= 1
        guard let meant = files.nearest(to: name) else {
            return (folder.map { " Add it to “\($0.path)”, or correct the name." } ?? "", nil)
        }
        guard name.utf8.count > meant.utf8.count, meant == Self.lastSegment(of: name) else {
            return (" Did you mean “\(meant)”?", meant)
        }
        return (" Did you mean “\(meant)”?\(bundleAdvice)", meant)
    }

    mutating func suggestion(forFolder name: String) -> (advice: String, meant: String?) {
        guard left > 0 else { return ("", nil) }
        left -= 1
        if let meant = folders.nearest(to: name) { return (" Did you mean “\(meant)”?", meant) }
        return (" Add it, or correct the name.\(bundleAdvice)", nil)
    }

    private static func folders(above name: String) -> [String] {
        name.utf8.indices.filter { name.utf8[$0] == UInt8(ascii: "/") }.map { String(name[..<$0]) }
    }

    private static func lastSegment(of name: String) -> String { ResourcesFolder.split(name).last }

    private struct Names {
        let all: [String]
        /// The names by their last segment. A name without a folder wins.
        private let byLastSegment: [String: String]
        private lazy var nearest = NearestName(all)

        /// - Parameter names: Sorted.
        init(_ names: [String]) {
            all = names
            byLastSegment = Dictionary(names.map { (FileSuggestions.lastSegment(of: $0), $0) }) { first, second in
                second.utf8.contains(UInt8(ascii: "/")) ? first : second
            }
        }

        /// Returns a name in another folder with the same last segment, or else the most similar name.
        mutating func nearest(to name: String) -> String? {
            byLastSegment[FileSuggestions.lastSegment(of: name)] ?? nearest.of(name)
        }
    }
}
