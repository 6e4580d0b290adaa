#if canImport(Testing)
import Dispatch
import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions {
    /// The requests of a test, in the order in which they began. The loader's threads add requests, and resume the
    /// tasks that wait for them.
    final class RequestLog: Sendable {
        private struct State: Sendable {
            var requests: [Request] = []
            var waits: [UUID: Wait] = [:]
            /// The requests to `URLSession.shared` that the test itself made, by method and URL.
            var own: Set<String> = []

            /// Counts a request for the waits that it matches. Removes the waits that it completes, and returns their
            /// continuations.
            mutating func endWaits(for request: URLRequest) -> [CheckedContinuation<Void, Never>] {
                for (id, wait) in waits where wait.search.includes(request) { waits[id]?.missing -= 1 }
                let ended = waits.filter { $0.value.missing == 0 }
                for id in ended.keys { waits[id] = nil }
                return ended.values.map(\.continuation)
            }
        }

        private struct Wait: Sendable {
            let search: RequestSearch
            /// How many more requests to wait for.
            var missing: Int
            let continuation: CheckedContinuation<Void, Never>
        }

        private let state = Guarded(State())
        private let keepsResponses: Bool

        init(keepsResponses: Bool) { self.keepsResponses = keepsResponses }

        var requests: [Request] { state.withLock { $0.requests } }

        /// Adds a request. Returns a closure to call with the request's progress.
        ///
        /// - Parameter isShared: Whether the request uses `URLSession.shared`, so that another test may have made it.
        func begin(_ request: URLRequest, isShared: Bool) -> @Sendable (RequestListener.Progress) -> Void {
            let (index, ended) = state.withLock { state in
                var new = Request(request)
                new.mayBeOfAnotherTest = isShared && !state.own.contains(Self.name(request))
                state.requests.append(new)
                return (state.requests.count - 1, state.endWaits(for: request))
            }
            for continuation in ended { continuation.resume() }
            return { progress in
                self.state.withLock { state in
                    switch progress {
                    case .readBody(let body): state.requests[index].body = body
                    case .ended(let outcome, let isHiddenUpload):
                        state.requests[index].end(outcome, isHiddenUpload, keepsResponse: self.keepsResponses)
                    }
                }
            }
        }

        /// Notes that a request to `URLSession.shared` is the test's own.
        func noteOwn(_ request: URLRequest) {
            state.withLock { state in _ = state.own.insert(Self.name(request)) }
        }

        private static func name(_ request: URLRequest) -> String {
            "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "")"
        }

        /// Waits until enough requests that match a search have begun, the time is up, or the task is cancelled.
        func wait(for number: Int, _ search: RequestSearch, within seconds: Double) async {
            let id = UUID()
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        let missing = number - state.requests.count { search.includes($0.request) }
                        guard missing > 0 else { return true }
                        state.waits[id] = Wait(search: search, missing: missing, continuation: continuation)
                        return false
                    }
                    if isOver { return continuation.resume() }
                    // The cancellation handler may have run before this wait was added.
                    if Task.isCancelled { return endWait(id) }
                    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.endWait(id) }
                }
            } onCancel: {
                endWait(id)
            }
        }

        private func endWait(_ id: UUID) {
            state.withLock { $0.waits.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}

extension TestSubstitutions.Request {
    fileprivate mutating func end(_ outcome: RequestOutcome, _ isHiddenUpload: Bool, keepsResponse: Bool) {
        self.outcome =
            switch outcome.kind {
            case .answered, .confirmed: .answered
            case .loaded, .passed: .loaded
            case .failed, .mishandled: .failed
            case .unmatched: .unmatched
            }
        entry = outcome.entry
        error = outcome.error
        if case .mishandled(let mistake) = outcome.kind { self.mistake = mistake }
        if case .unmatched(let explanation) = outcome.kind {
            self.explanation = explanation
            // The error that the code gets may be brief.
            error = .unmatched(explanation)
            self.isHiddenUpload = isHiddenUpload
        }
        needsOrigin = outcome.needsOrigin
        usedUp = outcome.usedUp
        if keepsResponse, !outcome.isPassedOn { response = outcome.response }
    }
}
#endif
