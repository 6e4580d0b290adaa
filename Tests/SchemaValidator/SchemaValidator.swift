public import Foundation
import TestSupport

/// Applies the JSON Schema of maps with Python's `jsonschema`, an independent validator.
///
/// `.ci/run` installs it, and names the Python that has it in `LOCAL_SUBSTITUTION_PYTHON`.
public enum SchemaValidator {
    /// The schema's file.
    public static let schema = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("substitutions.schema.json")

    /// Why tests that need Python are skipped if it isn't there.
    public static let advice = "Python's jsonschema is not here: install it, or run .ci/run, which does"

    /// The error if Python doesn't do what it was asked.
    public struct Failure: Error {
        /// Python's output.
        public let message: String
    }

    #if os(macOS) || os(Linux)
    /// Whether there is a Python with `jsonschema`.
    public static let isAvailable = (try? run("from jsonschema import Draft202012Validator", on: Data())) != nil

    /// Returns what's wrong with each document; `nil` if nothing is.
    public static func problems(of documents: [String]) throws -> [String?] {
        let input = try JSONEncoder().encode([String(contentsOf: schema, encoding: .utf8)] + documents)
        return try JSONDecoder().decode([String?].self, from: run(script, on: input))
    }

    private static let script = """
        import json, sys
        from jsonschema import Draft202012Validator
        schema, *documents = json.loads(sys.stdin.buffer.read())
        Draft202012Validator.check_schema(json.loads(schema))
        validator = Draft202012Validator(json.loads(schema))
        errors = [next(validator.iter_errors(json.loads(document)), None) for document in documents]
        print(json.dumps([error and error.message for error in errors]))
        """

    private static func run(_ script: String, on input: Data) throws -> Data {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("SchemaValidator-\(UUID().uuidString)")
        try input.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let python = ProcessInfo.processInfo.environment["LOCAL_SUBSTITUTION_PYTHON"] ?? "python3"
        process.arguments = [python, "-c", script]
        let (output, messages) = (Pipe(), Pipe())
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        process.standardError = messages
        try process.start()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let message = messages.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(message: String(decoding: message, as: UTF8.self)) }
        return data
    }
    #else
    /// No process can run here.
    public static let isAvailable = false

    /// Always throws.
    public static func problems(of documents: [String]) throws -> [String?] { throw Failure(message: advice) }
    #endif
}
