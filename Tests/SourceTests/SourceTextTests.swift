#if os(Linux)
import TestSupport
import Testing

@Suite("The text of a source file", .values)
struct SourceTextTests {
    @Test(
        "It has no comments, and only the interpolated code of its strings",
        arguments: [
            ("a // b\nc", "a     \nc"), ("a /* b /* c */ d */ e", "a                   e"), (#"a "b" c"#, #"a " " c"#),
            (#"a "\"b" c"#, #"a "   " c"#), (#"a "b\(c + d("e"))f" g"#, #"a "   c + d(" ")  " g"#),
            ("a #\"b\"\\(c)\\#(d)\"# e", "a #\"         d \"# e"),
            ("a \"\"\"\n  b \"c\" \\(d)\n  \"\"\" e", "a \"\"\"\n          d \n  \"\"\" e"),
            ("a \"// b\" // c", "a \"    \"     "), ("#if a\nb(c)", "#if a\nb(c)"), ("a \"b\nc", "a \" \nc"),
        ]
    )
    func code(_ source: String, _ expected: String) {
        #expect(SourceText(source).code == expected)
    }
}
#endif
