import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Lookup {
    /// Returns the head of a response to a forwarded request, with the URL that was requested and the entry's headers.
    func changed(_ head: URLResponse) -> URLResponse {
        guard let substitution = decision.substitution, case .network(let target) = substitution.content,
            target != nil || !substitution.headers.isEmpty, let http = head as? HTTPURLResponse, let url = http.url
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
            url: (url == target?.url ? request.url : original(of: url)) ?? url,
            statusCode: http.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        ) ?? head
    }

    /// Returns the URL that the entry forwards to another URL, such as a redirect's target; `nil` if it forwards no URL there.
    func original(of url: URL) -> URL? {
        guard let match = decision.match, let winner = match.winner,
            let original = decision.substitution?.target?.original(of: url),
            let target = try? NormalizedURL(url.absoluteString).text,
            let normal = try? NormalizedURL(original.absoluteString),
            let same = map.storage.index.candidates(for: normal).first(where: { $0.number == match.number }),
            case .network(let filled?) = try? Substitution.Content(winner, filledWith: same.captures, for: normal),
            (try? NormalizedURL(filled.url.absoluteString).text) == target
        else { return nil }
        return original
    }
}
