import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionRecording
@testable import MapWriting

@Suite("Entries that people wrote in a recorder's map", .threads)
struct ForeignEntriesTests {
    /// Values that a recorder doesn't write, and the names of the files that they may serve.
    static let rows: [(value: String, files: [String])] = [
        (#"["h/a.txt", { "methods": ["POST"], "status": 201, "json": { "file": "no" } }]"#, ["h/a.txt"]),
        (
            #"{ "alternatives": ["b/*", { "file": "h/a.txt", "times": 2 }], "ignoreQuery": true }"#,
            ["b/*", "h/a.txt"]
        ),
        (#"[{ "when": { "json": { "file": "no" } }, "file": "h/\u0061.txt" }]"#, ["h/a.txt"]),
        (#"{ "file": "h/a.txt", "times": 2 }"#, ["h/a.txt"]),
        (#"{ "file": "h/a.txt", "when": { "headers": { "X": "a*" } } }"#, ["h/a.txt"]),
        (#"{ "file": "h/a.txt", "setRequestHeaders": { "X": null } }"#, ["h/a.txt"]),
        (#"{ "file": "h/a.txt", "delay": 1 }"#, ["h/a.txt"]),
        (#"{ "file": "h/a.txt", "timeout": 1 }"#, ["h/a.txt"]),
        (#"{ "file": "h/a.txt", "comment": "mine" }"#, ["h/a.txt"]),
        (#"{ "file": "h/a.txt", "what next": true }"#, ["h/a.txt"]),
        (#"{ "stream": ["no", { "file": "h/a.txt", "delay": 1 }, { "json": { "file": "no" } }] }"#, ["h/a.txt"]),
        (#"[{ "stream": [{ "file": "b/*" }, 7], "times": 1 }, { "stream": "h/a.txt" }]"#, ["b/*"]),
        (#"{ "handler": "h/a.txt" }"#, []), (#"{ "forwardTo": "http://localhost:8080/*" }"#, []),
        (#"{ "json": ["h/a.txt"] }"#, []), (#"{ "error": "timedOut" }"#, []), ("null", []), ("7", []),
        (#"{ "alternatives": 7 }"#, []), ("[]", []), (#"[["h/a.txt"]]"#, ["h/a.txt"]),
    ]

    private static let url = "https://h/a"

    @Test("The file names that a value may serve are found", arguments: rows)
    func files(value: String, files: [String]) throws {
        let document = try MapDocument(json: Array(#"{ "\#(Self.url)": \#(value) }"#.utf8))
        #expect(document.files(of: Self.url) == files)
        let named = NamedFiles(document)
        #expect(named.contains("h/A.txt") == files.contains("h/a.txt"))
        #expect(named.hasPattern(matching: "b/c") == files.contains("b/*"))
    }

    /// The recorder knows the file, and takes it for its own.
    @Test("An entry that a person changed is never overwritten, and its files stay", arguments: rows, [false, true])
    func changed(row: (value: String, files: [String]), whileRecording: Bool) throws {
        let fixture = try RecorderFixture()
        let first = try fixture.open()
        try first.record(Self.url, "one", etag: "\"1\"")
        first.flush()
        if !whileRecording { first.close() }
        try fixture.folder.write("substitutions.json", #"{ "\#(Self.url)": \#(row.value) }"#)
        let recorder = whileRecording ? first : try fixture.open()
        // Adopts what the person wrote.
        recorder.flush()
        let reason = try recorder.record(Self.url, "two").reason
        let expected: Complaint = row.value == "null" ? .excluded(key: Self.url) : .entry(key: Self.url)
        #expect(reason == expected.description)
        try recorder.record("https://h/b", "b")
        recorder.flush()
        #expect(fixture.mapText.contains(#""\#(Self.url)": \#(row.value)"#))
        #expect(
            try !fixture.files.contains("h/a.txt")
                || Data(contentsOf: fixture.folder.file("Substitutes/h/a.txt")) == Data("one".utf8)
        )
        if row.files.contains("h/a.txt") { #expect(fixture.files.contains("h/a.txt")) }
    }
}
