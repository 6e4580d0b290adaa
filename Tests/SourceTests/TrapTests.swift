#if os(Linux)
import Foundation
import TestSupport
import Testing

/// Initializers of Foundation's classes that compile in a Swift subclass, and trap or go wrong on Apple platforms.
@Suite("Initializers that trap on Apple platforms", .values)
struct TrapTests {
    @Test("No subclass of a class of URLSession uses one")
    func sources() throws {
        var count = 0
        for path in try ["Sources", "Tests"].flatMap(PackageFolder.swiftFiles) where !path.contains("/Apple/") {
            let (classes, problems) = try Self.problems(in: SourceText(try PackageFolder.text(of: path)))
            count += classes
            for problem in problems { Issue.record("\(path): \(problem)") }
        }
        #expect(count > 8)
    }

    @Test(
        "They're found",
        arguments: [
            ("class A: URLCache { init(b: Int) { super.init() } }", 1),
            ("final class A: URLCache, @unchecked Sendable {\n    init(b: Int) {\n        super.init( )\n    }\n}", 1),
            ("class A: URLCache { init(b: Int) { super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil) } }", 0),
            ("class A: URLCache {\n    var a = 1\n}\nclass B: NSObject { override init() { super.init() } }", 0),
            ("class A: CachedURLResponse { init(b: C) { super.init(response: b.c, data: b.d) } }", 1),
            ("class A: CachedURLResponse { init() { super.init(response: r, data: d, userInfo: nil) } }", 0),
            ("class A: Foundation.URLProtocol { override init(request: R) {} }", 1),
            ("class A: URLProtocol { override init(request: R) {}; required init(task: T) {} }", 0),
            ("class A: URLProtocol { func startLoading() { B.init(task: t) } }", 0),
            ("class A: SubstitutionURLProtocol { required init(task: T) {} }", 1),
        ]
    )
    func found(_ source: String, _ count: Int) throws {
        let found = try Self.problems(in: SourceText(source))
        #expect(found.problems.count == count, "\(found.problems)")
        #expect(found.classes == 1)
    }

    /// Returns how many subclasses a source has, and what's wrong with them.
    private static func problems(in text: SourceText) throws -> (classes: Int, problems: [String]) {
        let pattern =
            #"\bclass (\w+)(?:<\w+>)?\s*:[^{]*\b(URLCache|CachedURLResponse|URLProtocol|SubstitutionURLProtocol)\b[^{]*\{"#
        let expression = try NSRegularExpression(pattern: pattern)
        let code = text.code
        let matches = expression.matches(in: code, range: NSRange(code.startIndex..., in: code))
        return (
            matches.count,
            try matches.flatMap { match -> [String] in
                guard let all = Range(match.range, in: code), let name = Range(match.range(at: 1), in: code),
                    let parent = Range(match.range(at: 2), in: code)
                else { return [] }
                let body = String(body(of: code[all.upperBound...]))
                return try problems(of: String(code[name]), String(code[parent]), body)
            }
        )
    }

    private static func problems(of name: String, _ parent: String, _ body: String) throws -> [String] {
        func has(_ pattern: String) throws -> Bool { try !SourceText(body).matches(pattern).isEmpty }
        if parent.hasSuffix("URLProtocol") {
            let made = try [#"(?<![.\w])init\(\s*request\b"#, #"(?<![.\w])init\(\s*task\b"#].filter(has).count
            return made == 1 ? ["\(name): Override both initializers of URLProtocol, or none."] : []
        }
        var problems: [String] = []
        if try has(#"\bsuper\.init\(\s*\)"#) {
            problems.append("\(name): \(parent)'s init() sends another initializer to self. Call one with parameters.")
        }
        if try has(#"\bsuper\.init\(\s*response:[^,]*,\s*data:[^,]*\)\s*[}\n]"#) {
            problems.append("\(name): init(response:data:) sends the longer one to self. Call that.")
        }
        return problems
    }

    /// Returns the code up to the brace that closes a body.
    private static func body(of code: Substring) -> Substring {
        var depth = 1
        let end = code.firstIndex { character in
            if character == "{" { depth += 1 }
            if character == "}" { depth -= 1 }
            return depth == 0
        }
        return code[..<(end ?? code.endIndex)]
    }
}
#endif
