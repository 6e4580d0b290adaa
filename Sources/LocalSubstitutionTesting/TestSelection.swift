#if canImport(Testing)
import Foundation

/// Which of a suite's tests this process runs.
enum TestSelection {
    case all
    /// Options of the command select or skip tests.
    case part
    /// Xcode runs the tests. It doesn't tell them what was selected.
    case unknown

    static let ofProcess = TestSelection(CommandLine.arguments, ProcessInfo.processInfo.environment)

    init(_ arguments: [String], _ environment: [String: String]) {
        let options = ["--filter", "--skip"]
        if arguments.contains(where: { word in options.contains { word == $0 || word.hasPrefix("\($0)=") } }) {
            self = .part
        } else {
            let ofXcode = ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier"]
            self = ofXcode.contains { environment[$0] != nil } ? .unknown : .all
        }
    }

    /// Whether an issue may list the entries that a suite's tests haven't used: certainly not if only a part was run.
    var showsUnusedInSuites: Bool { self != .part }

    /// The sentence that ends such an issue; empty if all tests were run.
    var note: String { self == .unknown ? "\nIf you ran only a part of the suite, ignore this." : "" }
}
#endif
