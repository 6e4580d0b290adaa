extension SubstitutionMap {
    /// Returns the problems with the files that entries name.
    ///
    /// This looks at every file, so use it in a unit test of a map that you ship, and not in the app.
    public func fileProblems() -> [Problem] { checkedFiles().problems }

    /// The files that entries name which were left out, and those that misspelled names probably meant.
    package var filesLeftOut: [FileName] {
        storage.filesLeftOut + (storage.hasCheckedFiles ? [] : checkedFiles().meant)
    }

    /// Returns the problems, and the files that misspelled names probably meant.
    private func checkedFiles() -> (problems: [Problem], meant: [FileName]) {
        var files = FileChecker(storage.folder, looksAtFiles: true)
        let entries = storage.index.entries.flatMap(\.answering)
        var problems = entries.compactMap { entry -> Problem? in
            guard let file = entry.file, let problem = files.problem(of: file, wildcardsInKey: .max) else { return nil }
            return Problem(problem.kind, entry, problem.message)
        }
        problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
        if let problem = files.folderProblem(of: entries.first { $0.file != nil }) { problems.insert(problem, at: 0) }
        return (problems, files.meant)
    }
}
