import Foundation
import Guarded
import LocalSubstitution

/// A file that one or more entries name. It's compared with each entry's URL, then replaced if that's wanted.
final class ComparedFile: Sendable {
    private struct State: Sendable {
        var bytes: FileBytes?
        /// How many entries haven't been compared yet.
        var entriesLeft: Int
        /// The body that the URLs have served so far, if they all served the same.
        var body: Data?
        /// Why the file can't be replaced.
        var obstacle: String?
        var update: RemoteComparison.Update?
    }

    private let name: String
    private let folder: ResourcesFolder
    private let state: Guarded<State>

    init(_ name: String, in folder: ResourcesFolder, entries: Int) {
        self.name = name
        self.folder = folder
        state = Guarded(State(entriesLeft: entries))
    }

    /// What happened to the file after its last entry was compared; `nil` if there was no reason to replace it.
    var update: RemoteComparison.Update? { state.withLock { $0.update } }

    /// Returns the file's bytes, the same for all entries.
    func bytes() throws(FileProblem) -> FileBytes {
        if let known = state.withLock({ $0.bytes }) { return known }
        let bytes = try FileBytes(opening: name, in: folder)
        return state.withLock { state in
            // Another entry's comparison may have read the file meanwhile. All must use the same bytes.
            let first = state.bytes ?? bytes
            state.bytes = first
            return first
        }
    }

    /// Notes the body that an entry's URL serves; `nil` if it isn't known. After the last entry, replaces the file if that's wanted
    /// and possible.
    func note(_ body: Data?, of entry: Entry, updating: Bool) {
        let last = state.withLock { state -> State? in
            state.entriesLeft -= 1
            if updating { Self.note(body, of: entry, in: &state) }
            guard state.entriesLeft == 0 else { return nil }
            defer { (state.bytes, state.body) = (nil, nil) }
            return state
        }
        guard updating, let last, let bytes = last.bytes else { return }
        let update = replace(bytes, last, entry)
        state.withLock { $0.update = update }
    }

    private static func note(_ body: Data?, of entry: Entry, in state: inout State) {
        guard let body else {
            state.obstacle = state.obstacle ?? "It's unknown what the URL of its other entry “\(entry.key)” serves."
            return
        }
        if let other = state.body, other != body {
            state.obstacle = "The URLs of its entries serve different bytes."
        }
        state.body = state.body ?? body
    }

    private func replace(_ old: FileBytes, _ last: State, _ entry: Entry) -> RemoteComparison.Update? {
        if let obstacle = last.obstacle { return .left(reason: obstacle) }
        guard let body = last.body, body != old.data else { return nil }
        if let contradiction = contradiction(body, old.data, entry) { return .left(reason: contradiction) }
        let turn: FolderTurn
        do throws(FolderTurn.Failure) {
            turn = try FolderTurn(URL(fileURLWithPath: folder.path, isDirectory: true))
        } catch {
            return .left(reason: error.description)
        }
        defer { withExtendedLifetime(turn) {} }
        // The real path, so that a symbolic link to another file in the folder stays a link.
        guard let place = folder.realName(of: name), FileStatus(path: folder.path(of: name)) == old.status else {
            return .left(reason: "The file changed in the meantime. Run the command again.")
        }
        do throws(WrittenFolder.Problem) {
            try WrittenFolder(path: folder.path, holdsTurn: true).write(body, to: place)
            return .replaced
        } catch {
            return .left(reason: error.message)
        }
    }

    /// Returns why a new body can't belong to the entry; `nil` if it can. A server that has lost a picture may send a page
    /// that says so, with status 200.
    private func contradiction(_ body: Data, _ old: Data, _ entry: Entry) -> String? {
        let type = Substitution(entry, fileName: name, folder: folder, url: try? NormalizedURL(entry.key)).mimeType
        let length = MIMEType.sniffedLength
        guard MIMEType.contradicts(old.prefix(length), type: type) == nil else { return nil }
        return MIMEType.contradicts(body.prefix(length), type: type).map {
            "The file is served as \(type), but the first bytes that the URL serves say otherwise: \($0)."
        }
    }
}
