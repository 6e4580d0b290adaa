#if os(Linux)
/// Code that needs a newer system at run time although no declaration's attribute says so: types that old systems can't describe.
struct RuntimeFloor {
    /// The names of noncopyable types. Before iOS 18, they can't be in an optional or a collection.
    private let noncopyable: [String]

    init(_ sources: [SourceText]) throws {
        noncopyable = try sources.flatMap { text in
            try text.matches(#"\b(?:struct|enum|class) (\w+)[^{]*~Copyable"#).compactMap { $0.group.map(String.init) }
        }
    }

    /// Returns such code in a file, each with its line.
    func problems(in text: SourceText) throws -> [String] {
        var found = try text.matches(#"\bany\s+[\w.]+\s*<"#).map {
            ($0.all, "A parameterized existential needs iOS 16.")
        }
        for name in noncopyable {
            let type = #"\b\#(name)\b(?:<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)?"#
            let pattern = #"\#(type)\s*[?!\]]|\b(?:Optional|Array|Dictionary|Set|Result)<[^<>]*\#(type)"#
            found += try text.matches(pattern).map {
                ($0.all, "A generic type of the noncopyable type \(name) needs iOS 18.")
            }
        }
        let code = Array(text.code.utf8)
        for match in try text.matches(#"\bthrows\s*\("#) {
            let place = text.code.utf8.distance(from: text.code.startIndex, to: match.all.startIndex)
            guard TypedThrows(code: code, place: place).isStored else { continue }
            found.append(
                (match.all, "A stored closure with typed throws needs iOS 18. Only a parameter may have that type.")
            )
        }
        return found.map { (text.line(of: $0.0), $0.1) }.sorted { $0 < $1 }.map { "\($0.0): \($0.1)" }
    }
}

/// A `throws(…)` in code, part of a declaration, a closure or a function type.
private struct TypedThrows {
    let code: [UInt8]
    let place: Int

    /// Whether it's part of a function type that isn't a parameter's type.
    var isStored: Bool {
        guard let open = next(of: "(", from: place), let close = matching(open),
            code[(close + 1)...].drop(while: Self.isSpace).starts(with: "->".utf8)
        else { return false }
        let (parameters, before) = word(before: place)
        let end = parameters == "async" ? before : place
        guard let last = lastCharacter(before: end), code[last] == UInt8(ascii: ")"),
            var start = matchingBackwards(last)
        else { return false }
        if isDeclarationOrClosure(at: start) { return false }
        // Goes outward to the parameters of a function.
        while let bracket = enclosing(start) {
            if code[bracket] == UInt8(ascii: "{") { return true }
            if code[bracket] == UInt8(ascii: "("), isNamed(bracket) { return isEnumCase(bracket) }
            start = bracket
        }
        return true
    }

    /// Returns whether a parenthesis follows a function's name or its generic parameters, or begins a closure's parameters.
    private func isDeclarationOrClosure(at parenthesis: Int) -> Bool {
        guard let last = lastCharacter(before: parenthesis) else { return false }
        return code[last] == UInt8(ascii: "{") || isNamed(parenthesis)
    }

    private func isNamed(_ parenthesis: Int) -> Bool {
        guard let last = lastCharacter(before: parenthesis) else { return false }
        if code[last] == UInt8(ascii: ">") { return last == 0 || code[last - 1] != UInt8(ascii: "-") }
        // `init?(`.
        let end = code[last] == UInt8(ascii: "?") ? last : parenthesis
        let (name, before) = word(before: end)
        guard !name.isEmpty, !["in", "return", "sending", "inout", "case", "let", "var"].contains(name) else {
            return false
        }
        return before == 0 || code[before - 1] != UInt8(ascii: "@")
    }

    private func isEnumCase(_ parenthesis: Int) -> Bool {
        let line = code[..<parenthesis].reversed().prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line.reversed(), as: UTF8.self).split(separator: " ")
        return words.first == "case" || words.prefix(2) == ["indirect", "case"]
    }

    private func word(before end: Int) -> (word: String, start: Int) {
        guard let last = lastCharacter(before: end) else { return ("", 0) }
        let letters = code[...last].reversed().prefix(while: Self.isWord)
        return (String(decoding: letters.reversed(), as: UTF8.self), last + 1 - letters.count)
    }

    private func lastCharacter(before end: Int) -> Int? { code[..<end].lastIndex { !Self.isSpace($0) } }

    private func next(of character: Unicode.Scalar, from start: Int) -> Int? {
        code[start...].firstIndex(of: UInt8(ascii: character))
    }

    private func matching(_ open: Int) -> Int? {
        var depth = 0
        return code[open...].indices.first { index in
            if code[index] == UInt8(ascii: "(") { depth += 1 }
            if code[index] == UInt8(ascii: ")") { depth -= 1 }
            return depth == 0
        }
    }

    private func matchingBackwards(_ close: Int) -> Int? {
        var depth = 0
        return code[...close].indices.last { index in
            if code[index] == UInt8(ascii: ")") { depth += 1 }
            if code[index] == UInt8(ascii: "(") { depth -= 1 }
            return depth == 0
        }
    }

    /// Returns the innermost open bracket around a place.
    private func enclosing(_ place: Int) -> Int? {
        var depth = 0
        return code[..<place].indices.last { index in
            if ")]}".utf8.contains(code[index]) { depth += 1 }
            guard "([{".utf8.contains(code[index]) else { return false }
            depth -= 1
            return depth < 0
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
#endif
