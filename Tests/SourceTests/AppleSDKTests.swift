#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

/// Checks the package with a real SDK of Apple instead of stand-ins:
///
///     APPLE_SDK=FOLDER swift test --filter Apple
///
/// On a Mac, `xcrun --sdk iphoneos --show-sdk-path` prints such a folder. On Linux, use a copy of it.
@Suite("A real SDK of Apple", .sources)
struct AppleSDKTests {
    private static let sdk = ProcessInfo.processInfo.environment["APPLE_SDK"].map { URL(fileURLWithPath: $0) }

    @Test(
        "It compiles, on macOS with its tests, without a warning",
        .enabled(if: sdk != nil, "APPLE_SDK names no SDK."),
        .timeLimit(.minutes(20))
    )
    func compiles() async throws {
        let sdk = try #require(Self.sdk)
        let platform = try #require(Self.platform(of: sdk), "Give the SDK's folder its own name, such as iPhoneOS.sdk.")
        let folder = Compiler.temporaryFile("sdk")
        let (modules, resources) = (folder.appendingPathComponent("m"), folder.appendingPathComponent("r"))
        try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var arguments = ["-sdk", sdk.path] + Self.frameworks(of: sdk)
        #if os(Linux)
        try Self.linkResources(in: resources)
        arguments += ["-resource-dir", resources.path]
        #endif
        let tests = platform.name == "macosx" ? PackageFolder.tests : []
        for target in PackageFolder.targets + PackageFolder.support + tests {
            // With the oldest system that has what tests import.
            let triple = tests.contains(target) ? "arm64-apple-macos14.0" : platform.triple
            let compiler = Compiler(modules: modules, arguments: arguments + ["-target", triple])
            let sources = try PackageFolder.sources(of: target)
            // Checks all targets, even if one has errors.
            do {
                if !tests.contains(target) { try await compiler.emitModule(target, sources) }
                try await compiler.check(target, sources)
            } catch {
                Issue.record(error, "\(target), \(triple)")
            }
        }
    }

    private struct Platform {
        let name: String
        /// With the oldest system in Package.swift.
        let triple: String

        static let all = [
            Platform(name: "macosx", triple: "arm64-apple-macos12.0"),
            Platform(name: "iphoneos", triple: "arm64-apple-ios15.0"),
            Platform(name: "appletvos", triple: "arm64-apple-tvos15.0"),
            Platform(name: "watchos", triple: "arm64-apple-watchos8.0"),
            Platform(name: "xros", triple: "arm64-apple-xros1.0"),
        ]
    }

    private static func platform(of sdk: URL) -> Platform? {
        let name = sdk.lastPathComponent.lowercased()
        return Platform.all.first { name.hasPrefix($0.name) }
    }

    /// The folders in which Xcode has the modules that tests import.
    private static func frameworks(of sdk: URL) -> [String] {
        let developer = sdk.deletingLastPathComponent().deletingLastPathComponent()
        return [("-F", "Library/Frameworks"), ("-I", "usr/lib")].flatMap { option, path in
            let folder = developer.appendingPathComponent(path).path
            return FileManager.default.fileExists(atPath: folder) ? [option, folder] : []
        }
    }

    /// Links to the toolchain's resources without the modules that an SDK has, too.
    private static func linkResources(in folder: URL) throws {
        let ofSDK = ["Block", "CoreFoundation", "_FoundationCShims", "_foundation_unicode", "dispatch", "linux", "os"]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let names = try FileManager.default.contentsOfDirectory(atPath: PackageFolder.toolchain.path)
        for name in names where !ofSDK.contains(name) {
            try FileManager.default.createSymbolicLink(
                at: folder.appendingPathComponent(name),
                withDestinationURL: PackageFolder.toolchain.appendingPathComponent(name)
            )
        }
    }
}
#endif
