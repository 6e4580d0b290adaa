import Foundation
import HTTPSyntax

/// A checker of a map's files. It checks each file only once, even if many entries use it.
final class FileChecker {
    private let folder: ResourcesFolder?
    /// Whether to look for the files. If `false`, as with ``SubstitutionMap/InvalidEntries/skip``, only their names are
    /// checked.
    let looksAtFiles: Bool
    private let listing: FolderListing?
    /// The problems of the checked files, by name; `nil` for a file without one.
    private var checked: [ExactText: SubstitutionMap.Problem?] = [:]
    /// The folder, opened once for all files.
    private lazy var opened = Result { () throws(Complaint) in try folder?.opened() }
    private lazy var suggestions = FileSuggestions(in: folder)
    private lazy var misplaced = folder.map { MisplacedFiles($0) }
    /// The existing files whose names are probably misspelled in the map. The misspellings are reported, so these files
    /// aren't reported as unused, too.
    private(set) var meant: [FileName] = []

    init(_ folder: ResourcesFolder?, looksAtFiles: Bool) {
        self.folder = folder
        self.looksAtFiles = looksAtFiles
        // In the map's own folder, some files are never served. A listing doesn't show which, so each file is opened.
        listing = folder.flatMap { $0.mapName == nil ? FolderListing($0) : nil }
    }

    /// - Parameter wildcardsInKey: The number of wildcards in the path and query of the entry's key. A file or target
    ///   with more wildcards is a problem.
    func problems(of entry: Entry, wildcardsInKey: Int) -> [SubstitutionMap.Problem] {
        if case .stream(let pieces) = entry.options.answer {
            return pieces.enumerated().compactMap { index, piece in
                guard let file = piece.file, let problem = problem(of: file, wildcardsInKey: wildcardsInKey) else {
                    return nil
                }
                let (line, message) = (piece.line > 0 ? piece.line : nil, "Piece \(index + 1): \(problem.message)")
                return SubstitutionMap.Problem(problem.kind, key: entry.key, line: line, message)
            }
        }
        let found =
            entry.file.flatMap { problem(of: $0, wildcardsInKey: wildcardsInKey) }
            ?? Self.problem(ofTargetOf: entry, wildcardsInKey: wildcardsInKey)
        return found.map { [SubstitutionMap.Problem($0.kind, entry, $0.message)] } ?? []
    }

    func problem(of name: FileName, wildcardsInKey: Int) -> SubstitutionMap.Problem? {
        if name.wildcards > wildcardsInKey {
            let message = Self.tooMany(name.wildcards, in: "The file “\(name.text)”", wildcardsInKey)
            return SubstitutionMap.Problem(.invalidFileName, message)
        }
        if let known = checked[ExactText(name.text)] { return known }
        let problem = look(at: name)
        checked.updateValue(problem, forKey: ExactText(name.text))
        return problem
    }

    /// A problem if `forwardTo` has more wildcards than its key's path and query; otherwise, `nil`.
    private static func problem(ofTargetOf entry: Entry, wildcardsInKey: Int) -> SubstitutionMap.Problem? {
        guard let target = entry.forwardTarget, target.wildcards > wildcardsInKey else { return nil }
        return SubstitutionMap.Problem(.invalidValue, tooMany(target.wildcards, in: "“forwardTo”", wildcardsInKey))
    }

    private static func tooMany(_ wildcards: Int, in what: String, _ wildcardsInKey: Int) -> String {
        let count = wildcardsInKey == 0 ? "none" : "only \(wildcardsInKey)"
        return
            "\(what) has \(wildcards) *, but the key has \(count) after its host. "
            + "Remove the extra *, or add * to the key's path."
    }

    /// A map without files doesn't need a folder.
    ///
    /// - Parameter first: The first entry with a file, as an example.
    func folderProblem(of first: Entry?) -> SubstitutionMap.Problem? {
        guard looksAtFiles, let first, let name = first.files.first else { return nil }
        guard let folder else {
            return SubstitutionMap.Problem(.noResources, first, Self.noFolder(for: name, inCode: first.isMadeInCode))
        }
        if let message = folder.misspelling() { return SubstitutionMap.Problem(.noResources, message) }
        return problem(ofFolder: "").map {
            SubstitutionMap.Problem(.noResources, "The resources folder “\(folder.path)” \($0)")
        }
    }

    /// The message if there's no folder. In code, a string alone is a file's name, and may have been meant as a body.
    static func noFolder(for name: FileName, inCode: Bool) -> String {
        "The file “\(name.text)” can't be found, since the map has no resources folder. "
            + (inCode ? "If you mean a body, write .text(…). If you mean a file, pass" : "Pass")
            + " its folder as `resources:` to the map's initializer or the test's trait"
            + (inCode ? "." : ", or as --resources to the command.")
    }

    private func problem(ofFolder name: String) -> Complaint? {
        switch opened {
        case .success(let opened): opened?.problem(ofFolder: name)
        case .failure(let problem): problem
        }
    }

    private func look(at name: FileName) -> SubstitutionMap.Problem? {
        if Self.isURL(name.text) {
            let message = "The file “\(name.text)” is a URL. To send the request there, use “forwardTo”."
            return SubstitutionMap.Problem(.invalidFileName, message)
        }
        if let problem = name.problem {
            return SubstitutionMap.Problem(.invalidFileName, "The file “\(name.text)” \(problem)")
        }
        guard looksAtFiles else { return nil }
        if name.hasWildcards { return problem(ofFolderOf: name) }
        if listing?.hasFile(name.text) == true { return nil }
        do throws(Complaint) {
            _ = try opened.get()?.open(name.text)
            return nil
        } catch {
            let known = error == .missingFile ? misplaced?.finding(on: name.text) : nil
            if let meant = known?.meant { self.meant.append(FileName(text: meant)) }
            let message = known?.message ?? "\(error)\(advice(on: error, name))"
            return SubstitutionMap.Problem(.init(rawValue: error.kind), "The file “\(name.text)” \(message)")
        }
    }

    private static func isURL(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let scheme = bytes.prefix { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        return scheme.first?.isLetter == true && bytes[scheme.endIndex...].starts(with: "://".utf8)
    }

    private func advice(on problem: Complaint, _ name: FileName) -> String {
        if problem == .missingFile {
            let suggestion = suggestions.suggestion(for: name.text)
            if let meant = suggestion.meant { self.meant.append(FileName(text: meant)) }
            return suggestion.advice
        }
        guard problem == .notRegularFile(.folder) else { return "" }
        let folder = name.text.utf8.last == UInt8(ascii: "/") ? name.text : name.text + "/"
        return " To serve its files, end the key in * and write “\(folder)*” as the file."
    }

    /// The problem with the folder before the name's first wildcard, such as a missing folder; `nil` if it's OK.
    private func problem(ofFolderOf name: FileName) -> SubstitutionMap.Problem? {
        let fixed = name.fixedFolder
        // An empty text means the resources folder. If that's missing, it's reported once, not for each entry.
        guard !fixed.isEmpty, let problem = problem(ofFolder: fixed) else { return nil }
        var message = problem.description
        if problem == .missingFile, let known = misplaced?.finding(on: name.text, part: fixed, kind: .folder) {
            message = known.message
            if let meant = known.meant { self.meant.append(FileName(text: meant)) }
        } else if problem == .missingFile {
            let suggestion = suggestions.suggestion(forFolder: fixed)
            message += suggestion.advice
            if let folder = suggestion.meant {
                meant.append(FileName(text: folder + String(Substring(name.text.utf8.dropFirst(fixed.utf8.count)))))
            }
        }
        return SubstitutionMap.Problem(.init(rawValue: problem.kind), "The folder “\(fixed)” \(message)")
    }
}

/// Suggestions of existing files and folders for names that don't exist.
private final class FileSuggestions {
    private let folder: ResourcesFolder?
    private lazy var files = Names(servedFiles)
    private lazy var folders = Names(Set(files.all.flatMap { ResourcesFolder.folders(of: $0) }).ordered(by: <))
    /// Advice for a folder in a bundle, since a build tool may have moved its files; otherwise, empty.
    private let bundleAdvice: String
    /// More than 100 suggestions don't help.
    private var left = 100

    init(in folder: ResourcesFolder?) {
        self.folder = folder
        bundleAdvice =
            folder?.isInBundle == true
            ? " Xcode groups and `.process` flatten folders. Use a folder reference or `.copy`." : ""
    }

    /// The folder's files. In the map's own folder, without the map and hidden files, which are never served.
    private var servedFiles: [String] {
        guard let folder, let map = folder.mapName else { return folder?.names(limit: 10_000) ?? [] }
        return folder.names(limit: 10_000).filter { $0 != map && !ResourcesFolder.isHidden($0) }
    }

    func suggestion(for name: String) -> (advice: String, meant: String?) {
        guard left > 0 else { return ("", nil) }
        left -= 1
        guard let meant = files.nearest(to: name) else {
            return (folder.map { " Add it to “\($0.path)”, or correct the name." } ?? "", nil)
        }
        let isMoved = name.utf8.count > meant.utf8.count && meant == ResourcesFolder.split(name).last
        return (" Did you mean “\(meant)”?\(isMoved ? bundleAdvice : "")", meant)
    }

    func suggestion(forFolder name: String) -> (advice: String, meant: String?) {
        guard left > 0 else { return ("", nil) }
        left -= 1
        if let meant = folders.nearest(to: name) { return (" Did you mean “\(meant)”?", meant) }
        return (" Add it, or correct the name.\(bundleAdvice)", nil)
    }

    private final class Names {
        let all: [String]
        /// One name for each last segment, such as `a/logo.png` for `logo.png`. If several names have the same last
        /// segment, it's the name without a folder or, if all have folders, the first.
        private let byLastSegment: [String: String]
        private lazy var nearest = NearestName(all)

        /// - Parameter names: The names, sorted.
        init(_ names: [String]) {
            all = names
            byLastSegment = names.reduce(into: [:]) { found, name in
                let last = ResourcesFolder.split(name).last
                if found[last] == nil || !name.utf8.contains(UInt8(ascii: "/")) { found[last] = name }
            }
        }

        /// A name with the same last segment in another folder or, if there's none, the most similar name.
        func nearest(to name: String) -> String? {
            byLastSegment[ResourcesFolder.split(name).last] ?? nearest.of(name)
        }
    }
}
