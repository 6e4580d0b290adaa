import Foundation

/// Checks the files that a map names, each only once, however many entries name it.
struct FileChecker {
    struct Problem {
        let kind: SubstitutionMapError.Problem.Kind
        let message: String
    }

    private let folder: ResourcesFolder?
    private var names: [String: FileName] = [:]
    private var checked: [String: Problem?] = [:]
    private lazy var existing: [String] = folder.map { $0.names(limit: 10_000) } ?? []
    /// Looking for what somebody may have meant takes time, and nobody reads hundreds of suggestions.
    private var suggestionsLeft = 100

    init(_ folder: ResourcesFolder?) {
        self.folder = folder
    }

    /// The same name, in one copy for all entries.
    mutating func shared(_ name: FileName) -> FileName {
        if let known = names[name.text] { return known }
        names[name.text] = name
        return name
    }

    mutating func problem(of name: FileName, wildcardsInKey: Int) -> Problem? {
        if name.wildcards > wildcardsInKey {
            let count = wildcardsInKey == 0 ? "none" : "only \(wildcardsInKey)"
            return Problem(
                kind: .invalidFileName,
                message:
                    "the file “\(name.text)” has \(name.wildcards) *, but the key's path has \(count) to fill it with"
            )
        }
        if let known = checked[name.text] { return known }
        let problem = look(at: name)
        checked.updateValue(problem, forKey: name.text)
        return problem
    }

    private mutating func look(at name: FileName) -> Problem? {
        if let problem = name.problem {
            return Problem(kind: .invalidFileName, message: "the file “\(name.text)” \(problem)")
        }
        guard let folder else { return nil }
        if name.wildcards > 0 {
            let fixed = name.fixedFolder
            guard let problem = folder.problem(ofFolder: fixed) else { return nil }
            // That the resources folder itself is missing is said once, not for each entry.
            guard !fixed.isEmpty else { return nil }
            let advice = problem == .missing ? suggestion(forFolder: fixed) : ""
            return Problem(kind: problem.kind, message: "the folder “\(fixed)” \(problem.message)\(advice)")
        }
        do throws(FileProblem) {
            _ = try folder.open(name.text)
            return nil
        } catch {
            let advice = error == .missing ? suggestion(for: name.text) : ""
            return Problem(kind: error.kind, message: "the file “\(name.text)” \(error.message)\(advice)")
        }
    }

    private mutating func suggestion(forFolder name: String) -> String {
        guard suggestionsLeft > 0 else { return "" }
        suggestionsLeft -= 1
        let folders = Set(existing.flatMap { Self.folders(above: $0) }).sorted()
        let last = name.split(separator: "/").last.map(String.init) ?? name
        let elsewhere = folders.first { $0 == last || $0.hasSuffix("/" + last) }
        if let meant = elsewhere ?? NearestName.of(name, in: folders) { return ": did you mean “\(meant)”?" }
        return ": add it, or mend the name; Xcode groups and `.process` flatten folders: use references or `.copy`"
    }

    private static func folders(above name: String) -> [String] {
        name.indices.filter { name[$0] == "/" }.map { String(name[..<$0]) }
    }

    private mutating func suggestion(for name: String) -> String {
        guard suggestionsLeft > 0 else { return "" }
        suggestionsLeft -= 1
        let last = name.split(separator: "/").last.map(String.init) ?? name
        if existing.contains(last), last != name {
            return
                ", but “\(last)” does: Xcode groups and `.process` flatten folders; use a folder reference or `.copy`"
        }
        let elsewhere = existing.first { $0.hasSuffix("/" + last) }
        if let meant = elsewhere ?? NearestName.of(name, in: existing) {
            return ": did you mean “\(meant)”?"
        }
        return folder.map { ": add it to “\($0.path)”, or mend the name" } ?? ""
    }
}

extension FileProblem {
    fileprivate var kind: SubstitutionMapError.Problem.Kind {
        switch self {
        case .missing: .missingFile
        case .outside: .outsideFolder
        case .notRegular, .notFolder: .notRegularFile
        case .unreadable, .unplaced: .unreadableFile
        }
    }
}
