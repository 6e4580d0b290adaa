import Foundation
import LocalSubstitution
import MapWriting

/// The entry of one URL while exchanges are added to it.
struct ChangedEntry {
    let key: String
    /// Its new value, as JSON; `nil` if nothing was added.
    var value: String? { alternatives.isEmpty ? nil : changed(by: []) }

    private let old: String?
    private let defaults: String?
    private var alternatives: [AlternativesText.Members] = []

    init(_ url: NormalizedURL, in entries: ForeignEntries) {
        let oldKey = entries.key(of: url)
        key = oldKey ?? url.canonical
        old = oldKey.flatMap { entries.document.values[$0] }
        defaults = entries.document.values["$defaults"]
    }

    /// Returns whether the map can still be loaded with these alternatives.
    func canTake(_ alternatives: [RecordedAlternative], isAlone: Bool) -> Bool {
        (try? check(alternatives, isAlone: isAlone)) != nil
    }

    /// Checks that the map can still be loaded with these alternatives.
    ///
    /// - Throws: If it can't.
    func check(_ alternatives: [RecordedAlternative], isAlone: Bool) throws(MapToolError) {
        // The number in a file's name makes no difference to the entry.
        let new = alternatives.map { members($0, $0.fileName.candidate(0), isAlone) }
        guard let value = changed(by: new) else {
            throw MapToolError("The entry “\(key)” can't have alternatives as it's written. Add this one by hand.")
        }
        var values = [key: value]
        values["$defaults"] = defaults
        do throws(SubstitutionMapError) {
            // Without a folder, files aren't checked.
            let map = try SubstitutionMap(json: Data(JSONText.lines(values).utf8), invalidEntries: .skip)
            if let problem = map.problems.first(where: { $0.kind != .noResources }) {
                throw SubstitutionMapError(file: nil, problems: [problem])
            }
        } catch {
            throw MapToolError("Its entry would be invalid. \(error.problems.first?.message ?? "\(error)")")
        }
    }

    /// Adds an alternative. Call ``check(_:isAlone:)`` first.
    mutating func add(_ alternative: RecordedAlternative, file: String, isAlone: Bool) {
        alternatives.append(members(alternative, file, isAlone))
    }

    private func changed(by new: [AlternativesText.Members]) -> String? {
        let all = alternatives + new
        return old.map { AlternativesText.value($0, adding: all) } ?? AlternativesText.value(of: all)
    }

    private func members(_ new: RecordedAlternative, _ file: String, _ isAlone: Bool) -> AlternativesText.Members {
        new.members(file: file, listsMethod: old != nil || !isAlone)
    }
}
