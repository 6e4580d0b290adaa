#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif

/// The keeper of a session's responses, which answer when the network fails: a `SubstitutionRecorder`.
package protocol ResponseRecorder: AnyObject, Sendable {
    /// Returns why the recorder doesn't handle a request, without a period; `nil` if it does. Then it may keep the
    /// response, and if the network fails, a kept copy answers.
    func refusal(of request: URLRequest) -> String?
    /// Returns whether a request has a kept copy that ``answer(_:)`` can read.
    func hasAnswer(to request: URLRequest) -> Bool
    /// Returns whether the response to a request is probably an event stream. A stream is passed on as it arrives, even
    /// if there's a copy.
    func expectsStream(_ request: URLRequest) -> Bool
    /// Returns the kept copy for a request; `nil` if there's none. Throws a problem if the copy's file can't be read.
    func answer(_ request: URLRequest) throws(FileProblem) -> CachedURLResponse?
    /// Returns the validators with which a request can ask the server whether the kept copy is current; `nil` if there
    /// are none.
    func validators(for request: URLRequest) -> Validators?
    /// Notes that the server has confirmed the kept copy as current.
    func confirm(_ request: URLRequest)
    /// Keeps a response if the rules allow it. Call this before the response is delivered.
    ///
    /// - Parameter report: Called, perhaps later, with what happened to the response. Also called for each redirect
    ///   that's recorded separately.
    func keep(_ exchange: Exchange, report: @escaping @Sendable (Exchange.Report) -> Void)
    /// Whether the responses that aren't written yet take too much memory. If so, call ``writeBodies()`` before
    /// delivering more.
    var isBehind: Bool { get }
    /// Writes the bodies of the responses that have arrived so far.
    func writeBodies()
}
