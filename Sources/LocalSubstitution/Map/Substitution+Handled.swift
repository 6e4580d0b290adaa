import Foundation

/// A handler's answer, checked like an entry of a map.
extension Substitution {
    /// Returns a handler's answer as a substitution; `nil` if the answer is `.notSubstituted`.
    ///
    /// - Parameter called: The substitution of the entry whose handler was called.
    /// - Throws: An error that describes the answer's first problem.
    static func handled(
        _ answer: SubstitutionMap.Answer,
        by called: Substitution,
        in folder: ResourcesFolder?,
        url: NormalizedURL
    ) throws(Complaint) -> Substitution? {
        var fields = EntryFields()
        var problems = answer.problems
        if answer.isNever {
            if let problem = problems.first { throw Complaint(problem) }
            return nil
        }
        if let file = answer.onlyFile {
            fields = EntryFields(file: file)
        } else {
            let json = Array(answer.json().utf8)
            let reader = EntryFieldsReader(0..<json.count, of: json, line: 0, in: .handled, data: answer.data)
            fields = reader.fields
            problems += reader.problems.map(\.message)
        }
        var defaults = called.options.fields
        // The entry's delay passes before the handler is called, so the answer doesn't inherit it.
        defaults.delay = nil
        let merged = fields.merged(withDefaults: defaults, in: .handled)
        let entry = Entry(
            key: called.key,
            line: called.entry.line,
            file: merged.file.map { FileName(text: $0) },
            options: Entry.Options(merged)
        )
        problems += [merged.inheritedConflict?.message, Self.problem(with: entry, in: folder)].compactMap { $0 }
        if let problem = problems.first { throw Complaint(problem) }
        do throws(Complaint) {
            let target = try entry.forwardTarget?.filled(with: [], for: url)
            let names = entry.files.map(\.text)
            return Substitution(entry, fileNames: names, target: target, captures: [], folder: folder, url: url)
        } catch {
            throw Complaint("The answer's “forwardTo” isn't valid: \(error). Correct the URL.")
        }
    }

    private static func problem(with entry: Entry, in folder: ResourcesFolder?) -> String? {
        if let target = entry.forwardTarget, target.wildcards > 0 {
            return "“\(target.text)” has a *, but a handler's answer can't have wildcards. Write the whole URL."
        }
        for file in entry.files {
            if file.hasWildcards {
                return "“\(file.text)” has a *, but a handler's answer can't have wildcards. Write the whole file name."
            }
            if let problem = file.problem { return "The file “\(file.text)” \(problem)" }
            guard let folder else { return FileChecker.noFolder(for: file, inCode: true) }
            do throws(Complaint) {
                _ = try folder.open(file.text)
            } catch {
                let known = error == .missingFile ? MisplacedFiles(folder).finding(on: file.text)?.message : nil
                let advice = error == .missingFile ? " Add it to “\(folder.path)”, or correct the name." : ""
                return "The file “\(file.text)” \(known ?? "\(error)\(advice)")"
            }
        }
        return nil
    }
}
