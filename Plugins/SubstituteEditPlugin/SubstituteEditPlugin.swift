import Foundation
import PackagePlugin

/// `swift package substitute-edit …`: runs any `substitute` command. The command may write to the package or load URLs.
@main
struct SubstituteEditPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try context.tool(named: "substitute").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        // The verb in the commands that `substitute` suggests, so that they use this plugin.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["LOCAL_SUBSTITUTION_PLUGIN": "substitute-edit"]) { $1 }
        try process.run()
        process.waitUntilExit()
        if process.terminationReason != .exit || process.terminationStatus != 0 {
            // SwiftPM exits with 1 for any error, so report the command's own status.
            Diagnostics.error("The command ended with status \(process.terminationStatus). Its output says why.")
        }
    }
}
