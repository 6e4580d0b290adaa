package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A session's recorder: a `SubstitutionRecorder`. If the network fails, the responses that it has recorded are
/// returned.
package protocol ResponseRecorder: AnyObject, Sendable {
    /// Returns why the recorder doesn't handle a request; `nil` if it does. Then it may record the response and, if the
    /// network fails, its recorded response is returned.
    func refusal(of request: URLRequest) -> Complaint?
    /// Returns whether a request has a recorded response that ``answer(_:)`` can read.
    func hasAnswer(to request: URLRequest) -> Bool
    /// Returns whether the response to a request is probably an event stream. The client gets a stream's pieces as they
    /// arrive, even if a response is recorded.
    func expectsStream(_ request: URLRequest) -> Bool
    /// Returns the recorded response, and its file, if it has one; `nil` if there's no response. Throws a problem if the
    /// file can't be read.
    func answer(_ request: URLRequest) throws(Complaint) -> (response: CachedURLResponse, file: URL?)?
    /// Returns the validators with which a request can ask the server whether the recorded response is current; `nil`
    /// if there are none.
    func validators(for request: URLRequest) -> Validators?
    /// Notes that the server has confirmed the recorded response as current.
    func confirm(_ request: URLRequest)
    /// Records a response if the rules allow it. Call this before the response is delivered.
    ///
    /// - Parameter report: Called, perhaps later, with what happened to the response. Also called for each redirect
    ///   that's recorded separately.
    func record(_ exchange: Exchange, report: @escaping @Sendable (Exchange.Report) -> Void)
    /// Whether the responses that aren't written yet take too much memory. If so, call ``writeBodies()`` before
    /// delivering more.
    var isBehind: Bool { get }
    /// Writes the bodies of the responses that have arrived so far.
    func writeBodies()
}
