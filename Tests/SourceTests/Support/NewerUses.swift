#if os(Linux)
/// Uses of what only newer Apple systems have. Linux's compiler doesn't check them: the declarations are in `Tests/SourceTests/Apple`,
/// and their attributes mean nothing there.
struct NewerUses {
    /// The first version of each system that has a declaration, by the declaration's name.
    let declared: [String: [String: SystemVersion]]

    /// - Parameter standIns: Code whose declarations carry `@available` if the oldest supported systems don't have them.
    init(_ standIns: SourceText) throws {
        let pattern = #"@available\(([^)]*)\)[^{}=]*?\b(?:var|let|func|class|struct|enum)\s+\w+"#
        declared = try standIns.matches(pattern).reduce(into: [:]) { declared, match in
            guard let name = match.all.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }).last,
                let systems = match.group
            else { return }
            let versions = Self.systems(systems)
            if !versions.isEmpty { declared[String(name)] = versions }
        }
    }

    /// Returns the uses in a file that aren't inside `if #available(…)` with the right versions, each with its line.
    func problems(in text: SourceText) throws -> [String] {
        var found: [(line: Int, problem: String)] = []
        for (name, systems) in declared {
            for use in try text.matches(#"\b\#(name)\b"#) where !isGuarded(text.code[..<use.all.startIndex], systems) {
                let versions = systems.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                found.append(
                    (text.line(of: use.all), "\(name) needs if #available(\(versions.joined(separator: ", ")), *).")
                )
            }
        }
        return found.sorted { $0 < $1 }.map { "\($0.line): \($0.problem)" }
    }

    /// Returns whether a place is in the condition or the block of an `if #available`.
    ///
    /// - Parameter before: All code before the place.
    private func isGuarded(_ before: Substring, _ systems: [String: SystemVersion]) -> Bool {
        var rest = before
        while true {
            var depth = 0
            var open = rest.endIndex
            // What precedes the place or the block: all since the last brace.
            let statement = rest.suffix(while: { !"{}".contains($0) })
            if let condition = statement.firstMatch(of: #/\bif\b[^{}]*#available\(([^)]*)\)/#) {
                let available = Self.systems(condition.1)
                if systems.allSatisfy({ system, oldest in available[system].map { $0 >= oldest } ?? false }) {
                    return true
                }
            }
            while open > rest.startIndex {
                open = rest.index(before: open)
                if rest[open] == "}" { depth += 1 }
                if rest[open] == "{" { depth -= 1 }
                if depth < 0 { break }
            }
            guard depth < 0 else { return false }
            rest = rest[..<open]
        }
    }

    private static func systems(_ list: Substring) -> [String: SystemVersion] {
        list.split(separator: ",").reduce(into: [:]) { systems, item in
            guard let match = item.firstMatch(of: #/(\w+) (\d+)(?:\.(\d+))?/#) else { return }
            systems[String(match.1)] = SystemVersion(Int(match.2) ?? 0, match.3.flatMap { Int($0) } ?? 0)
        }
    }
}

extension Substring {
    fileprivate func suffix(while condition: (Character) -> Bool) -> Substring {
        self[(lastIndex { !condition($0) }.map(index(after:)) ?? startIndex)...]
    }
}
#endif
