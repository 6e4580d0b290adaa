import Foundation
import LocalSubstitution

/// `substitute`: shows the cache at work, and helps to make, explain and check maps.
@main
enum Main {
    static func main() async {
        occupyClosedStreams()
        // By default, SIGPIPE ends a process that writes to a closed pipe. If the signal is ignored, the write fails
        // instead, and `Output` handles that.
        signal(SIGPIPE, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        let output = Output(printsJSON: words.contains("--json"))
        let status = await run(words, output)
        exit((status == .done && output.hasFailed ? .failed : status).rawValue)
    }

    /// Opens `/dev/null` in place of each standard stream that the caller has closed. Otherwise, the next opened file,
    /// such as a recorder's lock, would get the stream's number, and the command's output. Writing still fails, since
    /// `/dev/null` is opened only for reading.
    private static func occupyClosedStreams() {
        var descriptor: Int32
        repeat { descriptor = open("/dev/null", O_RDONLY) } while 0...STDERR_FILENO ~= descriptor
        close(descriptor)
    }

    private static func run(_ words: [String], _ output: Output) async -> Subcommand.ExitStatus {
        do {
            guard let name = words.first else {
                output.help(overview, isMessage: true)
                return .usage
            }
            if ["--version", "-version", "-V", "-v", "version"].contains(name) {
                output.help(Subcommand.version)
                return .done
            }
            // The shell scripts that `completions` prints call this subcommand. Users don't, so help doesn't list it.
            if name == "__complete" {
                for line in Subcommand.suggestions(for: Array(words.dropFirst())) { output.help(line) }
                return .done
            }
            let command = try Subcommand.named(["--help", "-h"].contains(name) ? "help" : name)
            let arguments = try Arguments(Array(words.dropFirst()), for: command)
            if arguments.has("help") {
                output.help(command.helpText)
                return .done
            }
            guard !FileManager.default.currentDirectoryPath.isEmpty else {
                let folder = ProcessInfo.processInfo.environment["PWD"] ?? "."
                throw Complaint("The folder “\(folder)” no longer exists. Change to another one with cd.")
            }
            return try await command.run(arguments, output)
        } catch let error as Complaint {
            output.message(error.isOfUsage ? "\(error.description)" : "\(lines: error.description)")
            return error.isOfUsage ? .usage : .failed
        } catch let error as SubstitutionMapError {
            output.message("The map has problems:\n\(lines: error.description)")
            return .failed
        } catch {
            output.message("\(lines: String(describing: error))")
            return .failed
        }
    }
}
