import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request as it's sent to the network.
final class ForwardedRequest: Sendable {
    let plan: Plan
    /// The fallback if the network fails; `nil` if there's none.
    let fallback: Plan.Fallback?
    /// The request to send, with its entry's changes and, if there's a kept copy, the copy's validators.
    let request: URLRequest
    /// Whether the request has the kept copy's validators, so that a 304 confirms the copy.
    let isConditional: Bool
    private let forwarder: Forwarder
    /// The header by which the session identifies its user, if any. It's determined before sending, since a response
    /// may set a cookie.
    private let credentialHeader: String?

    /// - Parameters:
    ///   - body: The request's body, if it was read from a stream.
    ///   - isConditional: Whether to add the validators of the kept copy.
    init(
        _ plan: Plan,
        _ fallback: Plan.Fallback?,
        in attachment: Attachment,
        body: BodyReader.Body?,
        isConditional: Bool
    ) {
        self.plan = plan
        self.fallback = fallback
        forwarder = attachment.forwarder
        credentialHeader = forwarder.credentialHeader(for: plan.request.url)
        var request = plan.request
        plan.substitution?.change(&request)
        let isFixed =
            plan.substitution?.options.fields.requestHeaders.keys.contains { $0.isSameHeader(as: "Authorization") }
            == true
        if !attachment.sendsCredentials, !isFixed { request.setValue(nil, forHTTPHeaderField: "Authorization") }
        body?.replaceStream(of: &request)
        var validators: Validators?
        if isConditional, case .recorder(let recorder)? = fallback { validators = recorder.validators(for: request) }
        validators?.makeConditional(&request)
        self.isConditional = validators != nil
        self.request = request
    }

    /// The entry that answers if the network fails; `nil` if none does.
    var entryFallback: Substitution? { if case .entry(let substitution)? = fallback { substitution } else { nil } }

    /// Whether the response is held until it's complete, so that the fallback can still answer if the network fails. An
    /// event stream isn't held, since it may take hours.
    var isHeld: Bool {
        switch fallback {
        case nil: false
        case .entry: true
        case .recorder(let recorder):
            // A 304 must not reach the client, even if the copy that it confirms is gone by now.
            isConditional || recorder.hasAnswer(to: plan.request) && !recorder.expectsStream(plan.request)
        }
    }

    /// The headers that the session must not add, because the entry sets or removes them.
    var fixedHeaders: [String] { plan.substitution.map { Array($0.options.fields.requestHeaders.keys) } ?? [] }

    /// Returns the obstacle to keeping the response if the session adds a credential to the request or to a redirected
    /// request; `nil` if it adds none.
    func credential(after redirects: [URLRequest]) -> Exchange.Obstacle? {
        if let credentialHeader { return .credential(header: credentialHeader, isAfterRedirect: false) }
        let header = redirects.lazy.compactMap { [forwarder] in forwarder.credentialHeader(for: $0.url) }.first
        return header.map { .credential(header: $0, isAfterRedirect: true) }
    }
}

extension Plan {
    /// Returns the head of a response to a forwarded request as the client gets it: with the URL that the client
    /// requested, and with the entry's headers.
    func changed(_ head: URLResponse) -> URLResponse {
        guard let substitution, case .network = substitution.answer,
            substitution.target != nil || !substitution.headers.isEmpty, let http = head as? HTTPURLResponse,
            let url = http.url
        else { return head }
        var fields: [String: String] = [:]
        for (name, value) in http.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        if let location = fields[header: "Location"].flatMap({ URL(string: $0, relativeTo: url)?.absoluteURL }),
            let original = original(of: location)
        {
            fields[header: "Location"] = original.absoluteString
        }
        for (name, value) in substitution.headers { fields[header: name] = value }
        return HTTPURLResponse(
            url: (url == substitution.target?.url ? request.url : original(of: url)) ?? url,
            statusCode: http.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        ) ?? head
    }

    /// Returns the URL that the entry would forward to a given URL, such as a redirect's target; `nil` if there's none.
    func original(of url: URL) -> URL? {
        guard let match, let winner = match.winner,
            let original = substitution?.target?.original(of: url),
            let target = try? NormalizedURL(url.absoluteString).text,
            let normal = try? NormalizedURL(original.absoluteString),
            let same = map.storage.index.candidates(for: normal).first(where: { $0.number == match.number }),
            let filled = try? winner.forwardTarget?.filled(with: same.captures, for: normal),
            (try? NormalizedURL(filled.url.absoluteString).text) == target
        else { return nil }
        return original
    }
}

/// The changes that an entry makes to a forwarded request.
extension Substitution {
    func change(_ request: inout URLRequest) {
        if let target {
            request.url = target.url
            // The session sends the target's host instead.
            request.setValue(nil, forHTTPHeaderField: "Host")
        }
        for (name, value) in options.fields.requestHeaders { request.setValue(value, forHTTPHeaderField: name) }
    }
}
