extension SubstitutionMap {
    /// Returns warnings about entries and files that probably aren't as they were meant. The command `substitute check` shows them.
    ///
    /// This lists the resources folder, and reads the beginning of every file that an entry names.
    public func warnings() -> [Warning] {
        let entries = storage.index.entries
        let names = storage.folder?.names(limit: .max) ?? []
        var found =
            PatternReview(entries).warnings + ForwardingReview(entries).warnings + MethodReview(entries).warnings
            + EntryReview(entries).warnings
        let known = Set(names)
        for entry in entries {
            found += warnings(about: entry, names: known)
        }
        found.sort { ($0.line ?? 0, $0.kind.rawValue) < ($1.line ?? 0, $1.kind.rawValue) }
        return found + unused(names, by: entries)
    }

    private func warnings(about entry: Entry, names: Set<String>) -> [Warning] {
        guard !entry.options.isNever, entry.options.isEnabled else { return [] }
        if let warning = ProtocolNeeds(entry).warning { return [warning] + fileWarnings(about: entry, names: names) }
        return entry.answering.compactMap { refusal(of: $0) } + fileWarnings(about: entry, names: names)
    }

    private func fileWarnings(about entry: Entry, names: Set<String>) -> [Warning] {
        entry.answering.flatMap { [contradiction(in: $0), letterCase(of: $0, names)].compactMap { $0 } }
    }

    private func refusal(of entry: Entry) -> Warning? {
        // Methods in lowercase have a warning of their own.
        let methods = entry.options.methods.map { $0.uppercased() }
        if !methods.contains("GET"), !methods.contains("HEAD"), !entry.options.answersAllMethods {
            return Warning(
                .refusedByLoader,
                entry,
                "The loader doesn't ask a cache for \(methods.listed("or")). \(ProtocolNeeds.advice)"
            )
        }
        return LoaderRules.refusal(ofStatus: entry.options.status, headers: entry.options.headers).map {
            Warning(.refusedByLoader, entry, "\($0.message.capitalizedFirst). \(ProtocolNeeds.advice)")
        }
    }

    private func contradiction(in entry: Entry) -> Warning? {
        guard let file = entry.file, file.wildcards == 0, let folder = storage.folder,
            let start = try? folder.open(file.text).prefix(MIMEType.sniffedLength)
        else { return nil }
        let url = try? NormalizedURL(entry.key)
        let type = Substitution(entry, fileName: file.text, folder: folder, url: url).mimeType
        return MIMEType.contradicts(start, type: type).map {
            Warning(
                .contradictedType,
                entry,
                "The file “\(file.text)” is served as \(type), but its first bytes say otherwise: \($0)."
            )
        }
    }

    /// Returns a warning if a file's name differs from the one on disk in letter case. Where letter case matters, the file is
    /// missing, which is an error instead.
    private func letterCase(of entry: Entry, _ names: Set<String>) -> Warning? {
        guard let file = entry.file, file.wildcards == 0, !names.contains(file.text),
            let name = names.first(where: { $0.lowercased() == file.text.lowercased() })
        else { return nil }
        return Warning(
            .letterCase,
            entry,
            "The file “\(file.text)” is “\(name)” on disk, so it will be missing where letter case matters, such as on a device. "
                + "Correct the name."
        )
    }

    /// Returns warnings about the files that no entry names.
    ///
    /// A map's own folder may have the sources of an app, so only the folders in it that entries name are searched.
    private func unused(_ names: [String], by entries: [Entry]) -> [Warning] {
        let files =
            entries.flatMap(\.answering).compactMap(\.file) + storage.filesLeftOut
            + (storage.hasCheckedFiles ? [] : checkedFiles().meant)
        let exact = Set(files.map(\.text))
        let globs = Set(files.filter { $0.wildcards > 0 }.map(\.text)).map { Glob(Array($0.utf8)) }
        let isForFiles = storage.folder.map { $0.mapName == nil || $0.path.hasSuffix("/Resources") } ?? false
        let folders = Set(files.map(\.fixedFolder).filter { !$0.isEmpty })
        return names.compactMap { name in
            guard isForFiles || !folders.isDisjoint(with: ResourcesFolder.folders(of: name)) else { return nil }
            let isServed = !ResourcesFolder.isHidden(name.utf8) && name != storage.folder?.mapName
            let bytes = Array(name.utf8)
            guard isServed, !exact.contains(name), !globs.contains(where: { $0.match(bytes[...]) != nil }) else {
                return nil
            }
            return Warning(
                .unusedFile,
                nil,
                "No entry names the file “\(name)” in the resources folder."
            )
        }
    }
}
