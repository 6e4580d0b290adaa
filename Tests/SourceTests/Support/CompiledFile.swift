#if os(Linux) || os(macOS)
import Foundation

/// The declarations and uses of a source file, by the compiler's own references.
struct CompiledFile: Sendable {
    let path: String
    /// The names of its declarations, by USR: the compiler's identifier of a declaration.
    var declared: [String: String] = [:]
    /// The USRs of everything it refers to, including its own declarations.
    var used: Set<String> = []
}

extension CompiledFile {
    /// Reads what `swiftc -dump-ast -dump-ast-format json` writes for a file.
    ///
    /// A target's output takes 25 MB, so this looks at its strings instead of decoding objects.
    init(path: String, tree: Data) {
        var reader = Reader(file: CompiledFile(path: path))
        tree.withUnsafeBytes { reader.read($0) }
        self = reader.file
    }

    /// Returns the USR of the type that a mangled type stands for: a struct, class, enumeration or protocol, or the one that it
    /// wraps as an optional, array, metatype or `inout`.
    static func nominalType(_ mangled: String) -> String? {
        guard mangled.hasPrefix("$s"), mangled.hasSuffix("D") else { return nil }
        var type = mangled.dropFirst(2).dropLast()
        while true {
            if type.hasSuffix("Sg") || type.hasSuffix("_p") {
                type = type.dropLast(2)
            } else if type.hasSuffix("m") || type.hasSuffix("z") {
                type = type.dropLast()
            } else if type.hasPrefix("Say"), type.hasSuffix("G") {
                type = type.dropFirst(3).dropLast()
            } else {
                break
            }
        }
        guard let kind = type.last, "VCOP".contains(kind) else { return nil }
        return "s:" + type
    }

    /// Uses nothing generic, since that takes most of the time in a debug build.
    private struct Reader {
        var file: CompiledFile
        /// The last member's name, the last `_kind`, and the declaration whose name comes next.
        private var key: UnsafeRawBufferPointer?
        private var kind: UnsafeRawBufferPointer?
        private var unnamed: String?
        /// The mangled types that were seen.
        private var types: Set<String> = []

        init(file: CompiledFile) { self.file = file }

        mutating func read(_ bytes: UnsafeRawBufferPointer) {
            guard let base = bytes.baseAddress else { return }
            let limit = base + bytes.count
            var at = base
            while let quote = Self.quote(from: at, to: limit) {
                let start = quote + 1
                guard var end = Self.quote(from: start, to: limit) else { return }
                while Self.isEscaped(end, from: start) {
                    guard let next = Self.quote(from: end + 1, to: limit) else { return }
                    end = next
                }
                at = end + 1
                let string = UnsafeRawBufferPointer(start: start, count: end - start)
                if at < limit, at.load(as: UInt8.self) == 0x3A { key = string } else { take(string) }
            }
        }

        private static func quote(from start: UnsafeRawPointer, to end: UnsafeRawPointer) -> UnsafeRawPointer? {
            guard let quote = memchr(start, 0x22, end - start) else { return nil }
            return UnsafeRawPointer(quote)
        }

        /// Returns whether an odd number of backslashes precedes a quote.
        private static func isEscaped(_ quote: UnsafeRawPointer, from start: UnsafeRawPointer) -> Bool {
            var (at, isEscaped) = (quote, false)
            while at > start, (at - 1).load(as: UInt8.self) == 0x5C {
                at -= 1
                isEscaped = !isEscaped
            }
            return isEscaped
        }

        private mutating func take(_ value: UnsafeRawBufferPointer) {
            guard let key else { return }
            if Self.equal(key, "_kind") {
                kind = value
            } else if Self.equal(key, "name") || Self.equal(key, "special") {
                guard let unnamed, let kind, Self.equal(kind, "base_name") else { return }
                file.declared[unnamed] = String(decoding: value, as: UTF8.self)
                self.unnamed = nil
            } else if !Self.equal(key, "extended_type") {
                // A type that's only extended to nest another type isn't used.
                refer(to: value, isDeclaration: Self.equal(key, "usr"))
            }
        }

        private mutating func refer(to value: UnsafeRawBufferPointer, isDeclaration: Bool) {
            guard value.count > 2 else { return }
            let (first, second) = (value[0], value[1])
            if first == UInt8(ascii: "s") || first == UInt8(ascii: "c"), second == UInt8(ascii: ":") {
                let usr = String(decoding: value, as: UTF8.self)
                if isDeclaration {
                    file.declared[usr] = usr
                    unnamed = usr
                } else {
                    file.used.insert(usr)
                }
            } else if first == UInt8(ascii: "$"), second == UInt8(ascii: "s") {
                let mangled = String(decoding: value, as: UTF8.self)
                guard types.insert(mangled).inserted, let type = CompiledFile.nominalType(mangled) else { return }
                file.used.insert(type)
            }
        }

        private static func equal(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
            guard bytes.count == name.utf8CodeUnitCount, let start = bytes.baseAddress else { return false }
            return memcmp(start, name.utf8Start, bytes.count) == 0
        }
    }
}
#endif
