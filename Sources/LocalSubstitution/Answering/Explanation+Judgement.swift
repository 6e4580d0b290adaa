import Foundation

extension Explanation {
    /// What happens to a request: in an attached session, or in one that only has the cache as its `urlCache`.
    public struct Judgement: Sendable, Hashable, CustomStringConvertible {
        /// What happens to a request.
        public struct Outcome: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// Creates an outcome with a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// An entry matches the request, and its response is returned: its file, its body or status, or what its
            /// handler returns.
            public static var matched: Outcome { Outcome(rawValue: "matched") }
            /// The request is forwarded to the network, as the entry says.
            public static var forwarded: Outcome { Outcome(rawValue: "forwarded") }
            /// The request is forwarded to the network. The entry's response is returned if the network fails.
            public static var waitsForOffline: Outcome { Outcome(rawValue: "waitsForOffline") }
            /// The request fails: with the entry's error, or because the entry's file can't be read.
            public static var failed: Outcome { Outcome(rawValue: "failed") }
            /// No entry responds. URLSession loads the request from the network or, if the session's `unmatched` is `fail`,
            /// the request fails.
            public static var unmatched: Outcome { Outcome(rawValue: "unmatched") }
            /// No entry responds, but the default cache has a response.
            public static var defaultCache: Outcome { Outcome(rawValue: "defaultCache") }

            fileprivate var words: String {
                switch self {
                case .waitsForOffline: "waits for offline"
                case .defaultCache: "default cache"
                default: rawValue
                }
            }
        }

        /// What happens to the request.
        public let outcome: Outcome
        /// Why that happens, without a period.
        public let reason: String
        /// What responds, in words, such as “the entry after 2 s”; `nil` if nothing does.
        public let servedBy: String?

        /// The outcome, what responds and, if no entry does, the reason.
        public var description: String {
            let isOfEntry = servedBy != nil && outcome != .unmatched && outcome != .defaultCache
            return outcome.words + (servedBy.map { ": \($0)" } ?? "") + (isOfEntry ? "" : ", because \(reason)")
        }

        private init(_ outcome: Outcome, _ servedBy: String?, _ reason: String) {
            (self.outcome, self.servedBy, self.reason) = (outcome, servedBy, reason)
        }
    }
}

extension Explanation.Judgement {
    /// Puts a plan's decision into words.
    ///
    /// - Parameters:
    ///   - problem: Why the file of the entry's response can't be read; `nil` if it can, or if there's no file.
    ///   - isStored: Whether the default cache has a response.
    init(_ plan: Plan, _ problem: Complaint?, isStored: Bool) {
        switch plan.action {
        case .answer(let substitution):
            if let problem {
                let reason = "the file \(problem.fragment)"
                self = plan.rules == nil ? .init(left: reason, isStored) : .init(.failed, nil, reason)
            } else {
                let outcome: Outcome = substitution.isOnlyError ? .failed : .matched
                self.init(outcome, Self.response(of: substitution), plan.reason)
            }
        case .call(let handler, _):
            self.init(.matched, handler.description + Self.body(of: plan), plan.reason)
        case .readBody:
            let condition = "if the request's body meets its condition"
            if case .handler(let handler)? = plan.match?.winner?.options.answer {
                let isConditional = plan.match?.winner?.options.fields.when?.needsBody == true
                let source = handler.description + (isConditional ? ", \(condition)" : "") + Self.body(of: plan)
                self.init(.matched, source, plan.reason)
            } else {
                self.init(.matched, "the entry, \(condition)", plan.reason)
            }
        case .fail(let substitution, let code):
            self.init(.failed, Self.error(code) + Self.wait(substitution), "the entry has an “error”")
        case .forward(nil):
            let target = plan.substitution?.target.map { ", at \($0.url)" } ?? ""
            let source = "the network\(target)" + (plan.substitution.map(Self.wait) ?? "")
            self.init(.forwarded, source, plan.obstacle?.reason ?? "the entry forwards it")
        case .forward(.entry(let substitution)):
            let source = "the network or, if that fails, \(Self.response(of: substitution))"
            self.init(.waitsForOffline, source, Obstacle.whenOffline.reason)
        case .forward(.recorder):
            self.init(.forwarded, "the network or, if that fails, the recording", plan.reason)
        case .replay, .refuse:
            self.init(.unmatched, nil, plan.reason)
        case .pass:
            self.init(left: plan.reason, isStored)
        }
    }

    /// The judgement about a request that isn't intercepted.
    private init(left reason: String, _ isStored: Bool) {
        if isStored {
            self.init(.defaultCache, "its response or, if that's stale, the network", reason)
        } else {
            self.init(.unmatched, "the network", reason)
        }
    }

    /// Describes an entry's response: what it comes from, and how late, in how many pieces or how fast it's sent.
    private static func response(of substitution: Substitution) -> String {
        let wait = wait(substitution)
        guard case .stream(let pieces) = substitution.answer else {
            let rate = substitution.rate.map { ", \($0.text)" } ?? ""
            return (substitution.fileName == nil ? "the entry" : "the entry's file") + wait + rate
        }
        // In one expression, this crashes the optimizer of Swift 6.3.1.
        let last = pieces.last?.error
        let end = last.map(error)
        let count = pieces.count - (end == nil ? 0 : 1)
        if let end, count == 0 { return end + wait }
        return "the entry, in \(count.counted("piece", "pieces"))\(wait)\(end.map { ", then \($0)" } ?? "")"
    }

    private static func wait(_ substitution: Substitution) -> String {
        substitution.options.fields.delay.map { " after \($0.grouped) s" } ?? ""
    }

    private static func error(_ code: URLError.Code) -> String { "the error “\(URLErrors.text(code))”" }

    /// Returns a phrase to append to a handler's description: whether the handler gets the request's body. The phrase
    /// is empty if the request contains its body or has no body.
    private static func body(of plan: Plan) -> String {
        switch plan.body {
        // A session's task may hide the body, but an explanation has no task.
        case .none, .data, .hidden: ""
        case .unread: ", with the request's body once it's read"
        case .tooLong: ", without the request's body, which is longer than 8 MiB"
        }
    }
}

extension Substitution {
    /// Whether the response is a stream that only fails.
    var isOnlyError: Bool {
        if case .stream(let pieces) = answer { pieces.count == 1 && pieces[0].error != nil } else { false }
    }
}
