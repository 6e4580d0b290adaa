#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("The privacy manifest", .sources)
struct PrivacyTests {
    static let path = "Sources/LocalSubstitution/PrivacyInfo.xcprivacy"

    struct Manifest: Decodable {
        let NSPrivacyTracking: Bool
        let NSPrivacyTrackingDomains: [String]
        let NSPrivacyCollectedDataTypes: [String]
        let NSPrivacyAccessedAPITypes: [API]

        struct API: Decodable {
            let NSPrivacyAccessedAPIType: String
            let NSPrivacyAccessedAPITypeReasons: [String]
        }
    }

    private static func manifest() throws -> Manifest {
        let data = Data(try PackageFolder.text(of: path).utf8)
        return try PropertyListDecoder().decode(Manifest.self, from: data)
    }

    @Test("It says that nothing is tracked or collected, and why the dates of files are read")
    func contents() throws {
        let manifest = try Self.manifest()
        #expect(!manifest.NSPrivacyTracking)
        #expect(manifest.NSPrivacyTrackingDomains.isEmpty)
        #expect(manifest.NSPrivacyCollectedDataTypes.isEmpty)
        let reasons = manifest.NSPrivacyAccessedAPITypes.map(\.NSPrivacyAccessedAPITypeReasons)
        #expect(reasons == [["C617.1"]])
    }

    @Test("It names the required-reason APIs that the library calls, and no others")
    func categories() async throws {
        let symbols = try await ToolchainSymbols.all().symbols
        let compiled = [try await Compiled.linux(), try await Compiled.apple()]
        let files = PackageFolder.library.flatMap { target in compiled.flatMap { $0[target] ?? [] } }
        let names = Self.names(in: files, symbols)
        let used = RequiredReasons.all.filter { !$0.isDisjoint(with: names) }.map(\.category)
        let stated = try Self.manifest().NSPrivacyAccessedAPITypes.map(\.NSPrivacyAccessedAPIType)
        let calls = RequiredReasons.all.map { $0.names.intersection(names).sorted() }
        #expect(stated.sorted() == used.sorted(), "The library calls \(calls). State the same in \(Self.path).")
    }

    /// Functions and their categories.
    private static let calls: KeyValuePairs = [
        "func f(_ s: inout stat) { fstat(0, &s) }": "FileTimestamp",
        "func f() { _ = Glibc.lstat(_:_:) }": "FileTimestamp",
        "func f() -> FileAttributeKey { .modificationDate }": "FileTimestamp",
        "func f(_ u: URL) { _ = try? u.resourceValues(forKeys: [.creationDateKey]) }": "FileTimestamp",
        "func f() -> Double { ProcessInfo.processInfo.systemUptime }": "SystemBootTime",
        "func f(_ s: inout statvfs) { statvfs(\"/\", &s) }": "DiskSpace",
        "func f() { UserDefaults.standard.set(1, forKey: \"a\") }": "UserDefaults",
        "func f() { _ = (CLOCK_MONOTONIC, Date(), stat()) }": "",
    ]

    @Test("Calls are found")
    func calls() async throws {
        let folder = Compiler.temporaryFile("calls")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = Self.calls.indices.map { folder.appendingPathComponent("\($0).swift").path }
        for (path, call) in zip(paths, Self.calls) {
            let source = "import Foundation\nimport Glibc\nprivate \(call.key)\n"
            try Data(source.utf8).write(to: URL(fileURLWithPath: path))
        }
        let files = try await Compiler(modules: folder).compile("Calls", paths)
        let symbols = try await ToolchainSymbols.all().symbols
        for (file, (source, category)) in zip(files, Self.calls) {
            let names = Self.names(in: [file], symbols)
            let found = RequiredReasons.all.filter { !$0.isDisjoint(with: names) }.map(\.category)
            #expect(found == (category.isEmpty ? [] : ["NSPrivacyAccessedAPICategory\(category)"]), "\(source)")
        }
    }

    @Test("The toolchain has every declaration on the list")
    func list() async throws {
        let names = Set(try await ToolchainSymbols.all().symbols.values.map(\.name))
        for reason in RequiredReasons.all { #expect(names.isSuperset(of: reason.symbols)) }
    }

    /// Returns what files refer to: C functions, and declarations of the toolchain's modules.
    private static func names(in files: [CompiledFile], _ symbols: [String: ToolchainSymbols.Symbol]) -> Set<String> {
        Set(
            files.flatMap(\.used).compactMap { usr in
                usr.hasPrefix("c:@F@") ? String(usr.dropFirst("c:@F@".count)) : symbols[usr]?.name
            }
        )
    }
}

extension RequiredReasons {
    fileprivate var names: Set<String> { Set(functions + symbols) }

    fileprivate func isDisjoint(with others: Set<String>) -> Bool { names.isDisjoint(with: others) }
}
#endif
