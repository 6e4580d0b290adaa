import Foundation
import PackagePlugin

/// `swift package substitute-edit …`: runs any command of `substitute`, also those that write into the package or load.
@main
struct SubstituteEditPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try context.tool(named: "substitute").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            // SwiftPM ends with 1 whatever a plugin ends with, so that the status is told here.
            Diagnostics.error("substitute ended with status \(process.terminationStatus)")
            return
        }
    }
}
