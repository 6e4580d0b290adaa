package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An entry of a map, or one of its alternatives: a key and a value, both checked.
package struct Entry: Sendable {
    package let key: String
    package let file: FileName?
    // Beside the file, the flag takes no memory of its own.
    package let isPattern: Bool
    /// The entry's line in the map; 0 for a map made in code.
    package let line: Int32
    package let options: Options

    package init(key: String, line: Int32, file: FileName?, options: Options) {
        (self.key, self.line, self.file, self.options) = (key, line, file, options)
        isPattern = MapKey.isPattern(key)
    }

    /// The entry's alternatives, or the entry itself if it has none.
    package var responding: [Entry] { options.alternatives.isEmpty ? [self] : options.alternatives }

    /// The entry or alternative that matches every `GET`. `nil` if there's none, or if that depends on the request or
    /// on earlier requests.
    package var respondingToEveryGet: Entry? {
        guard options.isEnabled, !options.isNever,
            let first = responding.first(where: { $0.options.lists(method: "GET") }), !first.options.isConditional
        else { return nil }
        return first
    }

    /// The names of the entry's files: its own file, or the files of its stream's pieces.
    package var files: [FileName] {
        if case .stream(let pieces) = options.answer { return pieces.compactMap(\.file) }
        return file.map { [$0] } ?? []
    }

    var forwardTarget: ForwardTarget? {
        if case .network(let target) = options.answer { target } else { nil }
    }

    /// - Parameter captures: The text that each wildcard of the key's path and query matched.
    func fileNames(filledWith captures: [ArraySlice<UInt8>]) throws(Complaint) -> [String] {
        var names: [String] = []
        for file in files { names.append(file.hasWildcards ? try file.filled(with: captures) : file.text) }
        return names
    }

    /// From 1; `nil` for a map made in code.
    var lineInMap: Int? { line > 0 ? Int(line) : nil }
}

extension Entry {
    /// All fields of an entry except its file. Entries whose value is only a file name share one instance.
    package final class Options: Sendable {
        /// The entry's fields without its file and alternatives, merged with the map's defaults.
        package let fields: EntryFields
        /// The entry's alternatives, in the order in which they're tried. Each has the entry's key, but its own line
        /// and file.
        package let alternatives: [Entry]
        /// For an alternative, its position in its entry, from 1, and the number of alternatives; `nil` for an entry.
        let place: (number: Int, count: Int)?
        /// Whether the entry's value is only a file name.
        let isPlain: Bool
        /// The HTTP methods that the entry matches; `["*"]` for all.
        package let methods: [String]
        /// The names of the entry's fields that need an attached session; see ``protocolFieldNames``.
        package let protocolFields: [String]
        /// Why the entry doesn't respond cache only, whatever the request; `nil` if it does.
        package let cacheOnlyObstacle: Obstacle?
        /// How long, in seconds, URLSession accepts the response after it was created; `nil` for no limit.
        let lifetime: Double?

        package init(
            _ fields: EntryFields,
            alternatives: [Entry] = [],
            place: (number: Int, count: Int)? = nil,
            isPlain: Bool = false
        ) {
            var kept = fields
            kept.file = nil
            kept.alternatives = []
            self.fields = kept
            self.alternatives = alternatives
            self.place = place
            self.isPlain = isPlain
            // Each lookup or response needs these, so they're computed only once.
            methods = fields.methods ?? (fields.answer ?? .file).defaultMethods
            protocolFields = EntryFields.ofProtocol.filter { $0.value(kept) }.map(\.key)
            lifetime = LoaderRules.lifetime(fields.headers)
            cacheOnlyObstacle =
                if let name = protocolFields.first {
                    .field(name)
                } else if fields.use == .whenOffline {
                    .whenOffline
                } else {
                    LoaderRules.refusal(ofStatus: fields.status ?? 200, headers: fields.headers).map { .refused($0) }
                }
        }

        /// The options of a `null` entry.
        static let never = Options(EntryFields(answer: .never))

        package var answer: Answer { fields.answer ?? .file }
        package var status: Int { fields.status ?? 200 }
        package var use: Substitution.Use { fields.use ?? .always }
        package var isEnabled: Bool { fields.isEnabled ?? true }
        package var ignoreQuery: Query.Ignored? {
            fields.ignoreQuery?.names?.isEmpty == true ? nil : fields.ignoreQuery
        }

        /// The names of the fields that need an attached session, since a cache can't implement them.
        package static var protocolFieldNames: [String] { EntryFields.ofProtocol.map(\.key) }

        /// Whether the entry is `null`: its URLs are never substituted.
        package var isNever: Bool { if case .never = answer { true } else { false } }

        /// Whether the response depends on earlier requests, or on more of the request than its URL and method.
        var isConditional: Bool { fields.when != nil || fields.times != nil }

        /// `GET` implies `HEAD`.
        func lists(method: String) -> Bool {
            methods.contains(method) || (method == "HEAD" && methods.contains("GET")) || answersAllMethods
        }

        package var answersAllMethods: Bool { methods.contains("*") }
    }
}

extension Entry {
    /// The answer of an entry or alternative.
    package enum Answer: Sendable {
        /// Nothing: the entry is `null`, and its URLs are never substituted.
        case never
        /// The entry's file or, if it has none, an empty body.
        case file
        case inline(Entry.Body)
        case stream([Entry.Piece])
        case error(URLError.Code)
        case handler(Entry.Handler)
        /// A response from the network: from `forwardTo`'s target or, if the value is `nil`, from the request's URL.
        case network(ForwardTarget?)

        /// The HTTP methods of an entry that has this answer and lists no methods.
        fileprivate var defaultMethods: [String] {
            switch self {
            case .never, .file, .inline, .stream: Self.get
            case .error, .network, .handler: Self.all
            }
        }

        private static let get = ["GET"]
        private static let all = ["*"]
    }
}

extension Entry {
    /// A body in the map or in code, not in a file.
    package final class Body: Sendable {
        enum Kind: Sendable {
            case json, text
            /// Data from code.
            case data
        }

        let data: Data
        let kind: Kind

        var digest: String { Digest.base64(of: data) }

        init(_ data: Data, _ kind: Kind) {
            self.data = data
            self.kind = kind
        }
    }
}

extension SubstitutionMap {
    /// A reference to an entry of a map, or to one of its alternatives.
    public struct EntryReference: Sendable, Hashable, CustomStringConvertible {
        /// The entry's key, as spelled in the map.
        public let key: String
        /// The line of the entry or alternative in the map, from 1; `nil` for a map made in code.
        public let line: Int?
        /// The alternative's position in its entry, from 1; `nil` for an entry.
        public let alternative: Int?

        private let alternatives: Int
        /// The name of the map's file, if it's shown; otherwise `nil`.
        private var file: String?

        /// The reference without the name of the map's file.
        package var withoutFile: EntryReference {
            var reference = self
            reference.file = nil
            return reference
        }

        /// The key, followed by the alternative and the line if they aren't `nil`. In a test with a recording, also the
        /// name of the map's file. In the key, `redacted` replaces what may be a credential.
        public var description: String {
            "“\(ShownURL(key: key).text)”" + (alternative.map { ", alternative \($0) of \(alternatives)" } ?? "")
                + (line.map { ", line \($0)" } ?? "") + (file.map { " of “\($0)”" } ?? "")
        }

        init(_ entry: Entry, inFile file: String?) {
            self.file = file
            key = entry.key
            line = entry.lineInMap
            alternative = entry.options.place?.number
            alternatives = entry.options.place?.count ?? 0
        }
    }
}
