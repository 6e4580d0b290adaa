#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

/// A headless Chromium, if one is installed. Each page is opened in a new process with a new profile.
enum Chromium {
    static let isAvailable = executable != nil
    static let advice: Comment = "Install Chromium."

    private static let executable: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let files = folders.flatMap { folder in
            ["chromium", "chromium-browser", "google-chrome"].map { URL(fileURLWithPath: "\(folder)/\($0)") }
        }
        return files.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Opens a page, and returns its elements as HTML once nothing has been loading for five seconds of its own time.
    static func open(_ url: String) async throws -> String {
        let folder = try TemporaryFolder()
        let dom = folder.file("dom.html")
        try Data().write(to: dom)
        let process = Process()
        process.executableURL = executable
        process.arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--user-data-dir=\(folder.file("profile").path)", "--virtual-time-budget=5000", "--dump-dom", url,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: dom)
        process.standardError = FileHandle.nullDevice
        try await process.runToEnd()
        return try String(contentsOf: dom, encoding: .utf8)
    }
}
#endif
