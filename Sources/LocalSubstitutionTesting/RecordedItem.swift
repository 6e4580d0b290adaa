#if canImport(Testing)
import Foundation
import HTTPSyntax
import LocalSubstitution
import MapTools
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A test's request to which nothing responded in a recording run, and what the recording gets for it.
struct RecordedItem: Sendable {
    /// What's recorded, or why nothing is.
    enum Outcome: Sendable {
        /// - Parameters:
        ///   - leftOut: The names of the response's headers that aren't recorded.
        ///   - secrets: The members of the response's body that may have credentials.
        case exchange(RecordedExchange, leftOut: [String], secrets: [String])
        /// - Parameters:
        ///   - reason: The reason, as the issue shows it after the request.
        ///   - isFailure: Whether the request failed or hadn't ended, so that the recording on disk stays.
        case nothing(reason: String, isFailure: Bool)
    }

    /// The method and the URL, without credentials.
    let signature: String
    /// The request's position among all requests of the process.
    let number: Int
    /// Whether another test may have made the request.
    let mayBeOfAnotherTest: Bool
    let outcome: Outcome

    /// Creates the item for a request. Returns `nil` if an entry or an allowed URL decided how the request ended, so
    /// that there's nothing to record.
    ///
    /// - Parameters:
    ///   - isToBeLoaded: Returns whether nothing responds to a request. Called for a request without an outcome.
    ///   - redact: Changes or excludes a response before it's recorded; `nil` to record responses unchanged.
    init?(
        _ made: TestSubstitutions.Request,
        isToBeLoaded: (URLRequest) -> Bool,
        redact: RecordedResponse.Redaction?
    ) {
        let isUndecided = made.recorded == nil && (made.isUndecided || made.outcome == .underWay)
        guard let request = made.recorded ?? (isUndecided && isToBeLoaded(made.request) ? made.request : nil) else {
            return nil
        }
        signature = TestSubstitutions.Request(request).signature
        (number, mayBeOfAnotherTest) = (made.number, made.mayBeOfAnotherTest)
        outcome = Self.outcome(made, request, redact)
    }

    private static func outcome(
        _ made: TestSubstitutions.Request,
        _ request: URLRequest,
        _ redact: RecordedResponse.Redaction?
    ) -> Outcome {
        if made.outcome == .underWay {
            let reason = "not recorded: the request hadn't ended when the test ended. Wait for it in the test."
            return .nothing(reason: reason, isFailure: true)
        }
        if made.endsAtEntry, let target = made.response?.head.url {
            let location = ShownURL(target).text
            let entry = #"{ "status": 302, "headers": { "Location": \#(JSONText.string(location)) } }"#
            let reason = "not recorded: the server redirects the request to \(location), for which there's an entry."
            return .nothing(
                reason: "\(reason) Write the redirect's entry into the map by hand: \(entry)",
                isFailure: false
            )
        }
        if let error = made.error {
            return .nothing(reason: "not loaded: \(error.localizedDescription)", isFailure: true)
        }
        guard var (answer, leftOut) = made.response(to: request) else {
            let reason = "not recorded: the response is too long, or isn't HTTP. Write an entry into the map by hand."
            return .nothing(reason: reason, isFailure: true)
        }
        if let redact {
            do throws(Complaint) {
                leftOut += try answer.redact(redact)
            } catch {
                return .nothing(reason: "not recorded: \(error.description)", isFailure: false)
            }
        }
        let secrets = SecretMember.names(in: answer.body, type: answer.headers[header: "Content-Type"])
        let exchange = RecordedExchange(answer, requestType: request.value(forHTTPHeaderField: "Content-Type"))
        return .exchange(exchange, leftOut: leftOut, secrets: secrets)
    }
}
#endif
