import Foundation
import LocalSubstitution

/// The entry of one URL while exchanges are added to it.
struct ChangedEntry {
    let key: String
    /// Its new value, as JSON; `nil` if nothing was added.
    private(set) var value: String?

    private let old: String?
    private let defaults: String?
    private var alternatives: [AlternativesText.Members] = []

    init(_ url: NormalizedURL, in entries: ForeignEntries) {
        let oldKey = entries.key(of: url)
        key = oldKey ?? url.canonical
        old = oldKey.flatMap { entries.document.values[$0] }
        defaults = entries.document.values["$defaults"]
    }

    /// Checks that the map can still be loaded with this alternative.
    ///
    /// - Throws: If it can't.
    func check(_ alternative: RecordedAlternative, file: String, isAlone: Bool) throws(MapToolError) {
        guard let value = changed(by: alternative, file, isAlone) else {
            throw MapToolError("The entry “\(key)” can't have alternatives as it's written. Add this one by hand.")
        }
        var members = [key: value]
        members["$defaults"] = defaults
        do throws(SubstitutionMapError) {
            // Without a folder, files aren't checked.
            let map = try SubstitutionMap(json: Data(JSONText.lines(members).utf8), invalidEntries: .skip)
            if let problem = map.problems.first(where: { $0.kind != .noResources }) {
                throw SubstitutionMapError(file: nil, problems: [problem])
            }
        } catch {
            throw MapToolError("Its entry would be invalid. \(error.problems.first?.message ?? "\(error)")")
        }
    }

    /// Adds an alternative. Call ``check(_:file:isAlone:)`` first.
    mutating func add(_ alternative: RecordedAlternative, file: String, isAlone: Bool) {
        value = changed(by: alternative, file, isAlone)
        alternatives.append(members(alternative, file, isAlone))
    }

    private func changed(by new: RecordedAlternative, _ file: String, _ isAlone: Bool) -> String? {
        let all = alternatives + [members(new, file, isAlone)]
        return old.map { AlternativesText.value($0, adding: all) } ?? AlternativesText.value(of: all)
    }

    private func members(_ new: RecordedAlternative, _ file: String, _ isAlone: Bool) -> AlternativesText.Members {
        new.members(file: file, listsMethod: old != nil || !isAlone)
    }
}
