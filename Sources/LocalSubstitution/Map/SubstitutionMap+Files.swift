extension SubstitutionMap {
    /// What is wrong with the files that entries name. Opens every file, so it's for a unit test of a map that is shipped.
    public func fileProblems() -> [Problem] { checkedFiles().problems }

    /// The problems, and the files that were probably meant where a name is wrong.
    func checkedFiles() -> (problems: [Problem], meant: [FileName]) {
        var files = FileChecker(storage.folder, looksAtFiles: true)
        var problems = storage.index.entries.flatMap(\.answering).compactMap { entry -> Problem? in
            guard let file = entry.file, let problem = files.problem(of: file, wildcardsInKey: .max) else { return nil }
            return Problem(problem.kind, entry, problem.message)
        }
        problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
        if let problem = files.folderProblem { problems.insert(problem, at: 0) }
        return (problems, files.meant)
    }
}
