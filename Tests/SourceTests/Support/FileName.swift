#if os(Linux)
import Foundation

/// The name of a source file, and its declarations.
struct FileName {
    /// `Type` in `Type.swift` and in `Type+Topic.swift`.
    private let type: Substring
    private let hasTopic: Bool
    private let declarations: [Declaration]

    private struct Declaration {
        let kind: Substring
        let name: Substring
        let isPrivate: Bool
        let isNested: Bool

        var isType: Bool { ["struct", "class", "enum", "actor", "protocol"].contains(kind) }
    }

    init(path: String, text: SourceText) throws {
        let name = (path as NSString).lastPathComponent.dropLast(".swift".count)
        type = name.prefix { $0 != "+" }
        hasTopic = type.count < name.count
        declarations = try Self.declarations(in: text)
    }

    /// `file` if the file declares nothing with its name, and the types in it that should have their own files.
    var problems: [String] {
        let names = declarations.filter { hasTopic ? $0.kind == "extension" : true }.flatMap { declaration in
            let name = declaration.name
            // A function begins with a lowercase letter, and a file with a capital.
            return [name] + name.split(separator: ".").suffix(1) + (declaration.isType ? [] : [name.capitalizedFirst])
        }
        let strangers = declarations.filter { $0.isType && !$0.isNested && !$0.isPrivate && $0.name != type }
        return (names.contains(type) ? [] : ["file"]) + strangers.map { String($0.name) }
    }

    /// Returns the declarations of the file and of its extensions. It distinguishes them by their indentation, which `swift format`
    /// enforces.
    private static func declarations(in text: SourceText) throws -> [Declaration] {
        let kinds = "struct|class|enum|actor|protocol|extension|typealias|func|let|var"
        let attributes = #"(?:@\w+(?:\([^)\n]*\))? )*"#
        let modifiers =
            #"(?:(?:public|package|internal|private|fileprivate|open|final|indirect|nonisolated(?:\(unsafe\))?"#
            + #"|static|mutating|lazy|override|convenience|prefix|infix) )*"#
        var isInExtension = false
        return try text.matches("^(?:    )?\(attributes)(\(modifiers)(?:\(kinds)) [\\w.]+)").compactMap { match in
            guard let group = match.group else { return nil }
            let words = group.split(separator: " ")
            guard let name = words.last, let kind = words.dropLast().last else { return nil }
            let isNested = match.all.hasPrefix(" ")
            if !isNested { isInExtension = kind == "extension" }
            guard !isNested || isInExtension else { return nil }
            let isPrivate = words.contains("private") || words.contains("fileprivate")
            return Declaration(kind: kind, name: name, isPrivate: isPrivate, isNested: isNested)
        }
    }
}

extension Substring {
    fileprivate var capitalizedFirst: Substring { Substring(prefix(1).uppercased() + dropFirst()) }
}
#endif
