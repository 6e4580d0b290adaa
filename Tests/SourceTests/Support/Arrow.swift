#if os(Linux)
/// The use of one room of a target by another.
struct Arrow: Hashable, Comparable, CustomStringConvertible {
    let user: String
    let used: String

    static func < (left: Self, right: Self) -> Bool { (left.user, left.used) < (right.user, right.used) }

    var description: String { "\(user) → \(used)" }

    /// Returns all arrows of a target, each with its causes: which file uses which declarations of which other file.
    static func all(in files: [CompiledFile], of folder: String) -> [Arrow: [String]] {
        var places: [String: (path: String, name: String)] = [:]
        for file in files {
            for (usr, name) in file.declared { places[usr] = (file.path, name) }
        }
        var uses: [Arrow: [String: Set<String>]] = [:]
        for file in files {
            for usr in file.used {
                guard let declaration = places[usr], declaration.path != file.path else { continue }
                let arrow = Arrow(user: room(of: file.path, in: folder), used: room(of: declaration.path, in: folder))
                guard arrow.user != arrow.used else { continue }
                let pair = "\(file.path) uses, of \(declaration.path):"
                uses[arrow, default: [:]][pair, default: []].insert(declaration.name)
            }
        }
        return uses.mapValues { pairs in
            pairs.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.sorted().joined(separator: ", "))" }
        }
    }

    static func room(of path: String, in folder: String) -> String {
        let parts = path.dropFirst(folder.count + 1).split(separator: "/")
        return parts.count > 1 ? String(parts[0]) : "top"
    }
}

extension Rooms {
    /// Returns what's wrong with the arrows of a target.
    func problems(with arrows: [Arrow: [String]]) -> [String] {
        var known = Set(notYet.flatMap { user, rooms in rooms.map { Arrow(user: user, used: $0) } })
        var problems: [String] = []
        for (arrow, uses) in arrows.sorted(by: { $0.key < $1.key }) where !allows(arrow) {
            guard known.remove(arrow) == nil else { continue }
            problems.append(
                "\(target): \(arrow) is wrong. Move what is used to an earlier room, or what uses it to a later one:\n  "
                    + uses.joined(separator: "\n  ")
            )
        }
        return problems + known.sorted().map { "\(target): \($0) doesn't exist any more. Remove it from `notYet`." }
    }

    private func allows(_ arrow: Arrow) -> Bool {
        guard let user = order.firstIndex(of: arrow.user), let used = order.firstIndex(of: arrow.used) else {
            return false
        }
        return used < user
    }
}
#endif
