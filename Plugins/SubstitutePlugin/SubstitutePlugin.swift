import Foundation
import PackagePlugin

/// `swift package substitute …`: runs the `substitute` commands that neither write files nor load URLs. They run in the
/// folder of the user's package. The plugin doesn't ask for permission, so it also works without a terminal.
@main
struct SubstitutePlugin: CommandPlugin {
    private static let reading = ["check", "explain", "schema", "completions", "help", "version"]

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let arguments = arguments.isEmpty ? ["help"] : arguments
        let command = arguments[0]
        guard command.hasPrefix("-") || Self.reading.contains(command), !arguments.contains("--remote") else {
            Diagnostics.error(
                "This plugin only runs commands that read files (\(Self.reading.joined(separator: ", "))). "
                    + "To write files or load URLs, use swift package substitute-edit."
            )
            return
        }
        let process = Process()
        process.executableURL = try context.tool(named: "substitute").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        // The verb in the commands that `substitute` suggests. It's the other plugin's, since these may write files.
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
