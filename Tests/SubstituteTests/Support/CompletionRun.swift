import Foundation
import Testing

@testable import substitute

#if os(macOS) || os(Linux)
/// What a shell suggests for a command line, with the command's completions.
enum CompletionRun {
    static func isThere(_ shell: Subcommand.CompletingShell) -> Bool { program(shell) != nil }

    static func skipped(_ shell: Subcommand.CompletingShell) -> Comment { "\(shell.rawValue) isn't installed" }

    private static let path = ProcessInfo.processInfo.environment["PATH"] ?? ""

    private static func program(_ shell: Subcommand.CompletingShell) -> URL? {
        path.split(separator: ":").map { URL(fileURLWithPath: "\($0)/\(shell.rawValue)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Returns the suggestions, sorted, without quotes and the slashes of folders.
    ///
    /// - Parameters:
    ///   - isSourced: Whether zsh sources the script. Otherwise, it finds it in `fpath`.
    ///   - isRaw: Whether the suggestions are returned as the shell gets them, in zsh and fish with their descriptions.
    static func suggestions(
        of shell: Subcommand.CompletingShell,
        for line: String,
        in folder: TemporaryFolder,
        isSourced: Bool = false,
        isRaw: Bool = false
    ) async throws -> [String] {
        let place = folder.support.appendingPathComponent("completions", isDirectory: true)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let script = place.appendingPathComponent("_substitute")
        try await folder.substitute("completions", shell.rawValue).bytes.write(to: script)
        let program = try #require(Self.program(shell))
        // The scripts run the command.
        let path = try "\(Executable.substitute().deletingLastPathComponent().path):\(Self.path)"
        let run: Outcome
        switch shell {
        case .bash:
            let words = ["-c", bash, "bash", script.path, line] + readlineWords(of: line)
            run = try await folder.run(program, words, environment: ["PATH": path])
        case .fish:
            let words = ["--no-config", "-c", fish, script.path, line]
            // In the locale C, fish finds no command in a folder whose name isn't ASCII.
            run = try await folder.run(program, words, environment: ["PATH": path, "LC_ALL": "C.UTF-8"])
        case .zsh:
            try Data(zshrc.utf8).write(to: place.appendingPathComponent(".zshrc"))
            let found = place.appendingPathComponent("found")
            try Data().write(to: found)
            let environment = [
                "PATH": path, "ZDOTDIR": place.path, "LINE": line, "FOUND": found.path,
                "SOURCED": isSourced ? script.path : "", "RAW": isRaw ? "raw" : "",
            ]
            let terminal = try await folder.run(program, ["-f", "-c", zsh], environment: environment)
            run = Outcome(
                status: terminal.status,
                hasExited: terminal.hasExited,
                bytes: try Data(contentsOf: found),
                messages: terminal.messages
            )
        }
        #expect(run.status == 0)
        #expect(run.messages.isEmpty, "\(run.messages)")
        let words = run.output.split(separator: "\n").map { line in
            if isRaw { return String(line) }
            let word = line.prefix { $0 != "\t" }.replacing("\\", with: "").trimmingPrefix(/--[a-z]+=/)
            return String(word.hasSuffix("/") ? word.dropLast() : word)
        }
        // Zsh sees some folders twice.
        return Set(words).sorted()
    }

    /// Splits a command line as readline does, at `=` and `:` too.
    private static func readlineWords(of line: String) -> [String] {
        line.split(separator: " ", omittingEmptySubsequences: false).flatMap { word in
            word.matches(of: /[=:]+|[^=:]+/).map { String($0.0) } + (word.isEmpty ? [""] : [])
        }
    }

    /// Calls the function as readline does.
    private static let bash = """
        set -eu
        source "$1"
        COMP_LINE=$2 COMP_POINT=${#2}
        shift 2
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _substitute
        printf '%s\\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"}
        """

    private static let fish = "source $argv[1]; complete -C $argv[2]"

    /// Starts an interactive zsh on a pseudoterminal, and waits for its end.
    private static let zsh = """
        zmodload zsh/zpty
        zpty shell zsh -d -i
        while zpty -r shell text; do :; done
        """

    /// Completes the line as soon as there's a prompt. All suggestions go through `compadd`.
    private static let zshrc = """
        [[ -n $SOURCED ]] || fpath=($ZDOTDIR $fpath)
        autoload -Uz compinit
        compinit -u -D
        [[ -z $SOURCED ]] || source $SOURCED
        setopt nounset
        compadd() {
            local -a found
            if [[ ${@[1,(i)(-|--)]} != *-[OAD]\\ * ]]; then
                builtin compadd -A found "$@"
                print -rl -- $found >> $FOUND
                # The texts that are shown, with descriptions.
                [[ -z $RAW || -z ${(M)@:#-d} ]] || print -rl -- ${(P)${@[$@[(i)-d]+1]}} >> $FOUND
            fi
            builtin compadd "$@"
        }
        zle-line-init() {
            BUFFER=$LINE
            CURSOR=$#BUFFER
            zle list-choices
            exit
        }
        zle -N zle-line-init
        """
}
#endif
