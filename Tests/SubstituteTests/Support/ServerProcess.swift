import Foundation
import Guarded
import TestSupport

/// `substitute serve`, until a signal ends it.
final class ServerProcess: Sendable {
    struct DidNotStart: Error {
        let messages: String
    }

    /// The local origin of the first origin that is served.
    let baseURL: URL
    /// The local origins that stand for the origins.
    let origins: [String: URL]
    private let process: Guarded<Process>
    private let ending: Guarded<AsyncStream<Void>>
    private let messages: Messages
    private let log: URL

    /// The messages on standard error.
    private final class Messages: Sendable {
        let text = Guarded("")
        private let ended = DispatchSemaphore(value: 0)

        func end() { ended.signal() }
        func waitForEnd() { ended.wait() }
    }

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - output: A pipe for standard output, of which only the first lines are read; `nil` for a file.
    ///   - isUnderNohup: Whether the process is started with `SIGHUP` ignored, as by `nohup`.
    init(
        in folder: TemporaryFolder,
        _ words: [String],
        output: Pipe? = nil,
        isUnderNohup: Bool = false
    ) async throws {
        let log = folder.support.appendingPathComponent("log-\(UUID().uuidString)")
        try Data().write(to: log)
        self.log = log
        let (process, pipe, messages) = (Process(), Pipe(), Messages())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let line = (isUnderNohup ? "trap '' HUP; " : "") + #"exec "$0" serve "$@""#
        process.arguments = ["-c", line, try Executable.substitute().path] + words
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["HOME": folder.support.path, "PWD": folder.url.path]
        ) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try output ?? FileHandle(forWritingTo: log)
        process.standardError = pipe
        let (ending, end) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in end.finish() }
        try process.start()
        let reader = pipe.fileHandleForReading
        let text = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            Thread.detachNewThread {
                var waiting: CheckedContinuation<String, Never>? = continuation
                while case let data = reader.availableData, !data.isEmpty {
                    let text = messages.text.withLock { text in
                        text += String(decoding: data, as: UTF8.self)
                        return text
                    }
                    if text.contains("Press Ctrl-C to stop.\n") { waiting.take()?.resume(returning: text) }
                }
                waiting.take()?.resume(returning: messages.text.withLock { $0 })
                messages.end()
            }
        }
        let start = try output?.fileHandleForReading.availableData ?? Data(contentsOf: log)
        let lines = String(decoding: start, as: UTF8.self).split(separator: "\n")
        guard text.contains("Press Ctrl-C to stop.\n") else { throw DidNotStart(messages: text) }
        let served = lines.compactMap { Self.served(String($0)) }
        origins = Dictionary(served) { first, _ in first }
        baseURL = served.first?.1 ?? folder.url
        self.process = Guarded(process)
        self.ending = Guarded(ending)
        self.messages = messages
    }

    /// Returns the origin and the local origin in a line that says where an origin is served.
    private static func served(_ line: String) -> (String, URL)? {
        let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: String]
        let words = object.map { [$0["url"] ?? "", $0["origin"] ?? ""] } ?? line.components(separatedBy: "  ")
        guard words.count == 2, let url = URL(string: words[0]) else { return nil }
        return (words[1], url)
    }

    var identifier: Int32 { process.withLock { $0.processIdentifier } }

    func url(_ path: String) -> URL { URL(string: baseURL.absoluteString + path) ?? baseURL }

    /// Sends a signal, and waits for the process to end.
    func end(_ signal: Int32 = SIGINT) async throws -> Outcome {
        let identifier = self.identifier
        kill(identifier, signal)
        for await _ in ending.withLock({ $0 }) {}
        // Only a test that was cancelled gets here while the process runs. It must not wait for the process then.
        if Task.isCancelled { kill(identifier, SIGKILL) }
        messages.waitForEnd()
        return Outcome(
            status: process.withLock { $0.terminationStatus },
            hasExited: process.withLock { $0.terminationReason == .exit },
            bytes: try Data(contentsOf: log),
            messages: messages.text.withLock { $0 }
        )
    }

    deinit {
        process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } }
    }
}
