import TestSupport
import Testing

@testable import WebReferences

@Suite("Imports in a module", .values)
struct ModuleImportsTests {
    @Test(
        "Imports are found before the module's own code begins",
        arguments: [
            ("import './a.js'", ["./a.js"]), ("import\"/a\";import'/b'", ["/a", "/b"]),
            (
                "import a, { b as c, default as d } from '../e.js'\nimport * as f from \"https://g.example/h.js\"",
                ["../e.js", "https://g.example/h.js"]
            ),
            ("import{a as b,c}from\"./d\";import e from'./f'", ["./d", "./f"]),
            (
                "export * from './a'; export * as b from './c'; export { d, e as 'f g' } from './h'",
                ["./a", "./c", "./h"]
            ),
            ("export { a }\nimport './b'", ["./b"]), ("export { a };export{b}from'./c'", ["./c"]),
            ("import a from './b' with { type: 'json' }; import './c'", ["./b", "./c"]),
            ("import from from './a'; import defer * as b from './c'", ["./a", "./c"]),
            ("\u{FEFF}// './a'\n/* import './b' */ import './c' // x", ["./c"]), ("#!x\nimport './a'", ["./a"]),
            ("'use strict'; \"use x\"\nimport './a'", ["./a"]), ("'a'.b; import './c'", []),
            ("import 'bare'; import './a'", ["./a"]), ("import './a\\u0062'; import './c'", []),
            ("import('./a'); import './b'", []), ("import.meta; import './b'", []), ("let a; import './b'", []),
            ("export const a = 'b'; import './c'", []), ("export default './a'", []),
            ("export default function a() {} import './c'", []), ("import a './b'", []), ("import { a './b'", []),
            ("import", []), ("import {", []), ("import '", []), ("/*", []), ("", []),
        ] as [(String, [String])]
    )
    func imports(script: String, urls: [String]) {
        #expect(ModuleImports(SourceText(Array(script.utf8))).map(\.string) == urls)
    }

    @Test("Imports in a page's own modules are found too, and aren't among the references that are rewritten")
    func page() {
        let html = "<script type=module>import './a'</script><script>import './b'</script>"
        let references = References(SourceText(Array(html.utf8)), as: .html)
        #expect(references.imports.map(\.string) == ["./a"])
        #expect(references.all.isEmpty)
        #expect(references.scripts == 2)
    }
}
