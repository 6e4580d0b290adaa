import Foundation
import PackagePlugin

/// `swift package substitute …`: runs the `substitute` commands that only read, in the folder of the package that depends on
/// this one. It doesn't ask for permission, so it also runs without a terminal.
@main
struct SubstitutePlugin: CommandPlugin {
    private static let reading = ["check", "explain", "schema", "help", "version"]

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let command = arguments.first ?? "help"
        guard command.hasPrefix("-") || Self.reading.contains(command), !arguments.contains("--remote") else {
            Diagnostics.error(
                "this plugin only runs commands that read (\(Self.reading.joined(separator: ", "))). "
                    + "To write or load, run swift package substitute-edit \(arguments.joined(separator: " "))"
            )
            return
        }
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
