import Foundation
import LocalSubstitution
import Loopback
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if !os(watchOS)
/// Answers the requests that arrive at a server's ports.
struct ServerResponder: Sendable {
    let loader: DirectLoader
    let origins: ServedOrigins
    let rewritesReferences: Bool

    /// The longest document or style sheet that is rewritten, in bytes.
    private static let longestRewritten = 32 << 20

    /// Returns the response to a client's request.
    ///
    /// - Parameters:
    ///   - url: The URL that ``url(of:at:)`` returned.
    ///   - isWanted: Whether the client is still waiting for the response.
    func response(
        to request: HTTPRequest,
        for url: URL,
        at port: UInt16,
        isWanted: @escaping @Sendable () -> Bool
    ) -> ServedResponse {
        let headers = RequestHeaders(port: port, origins: origins)
        let asked = headers.request(request, for: url, isWhole: rewritesReferences && request.asksForDocument)
        if let preflight = Preflight.response(to: request, origins), !loader.hasEntry(for: asked) {
            return ServedResponse(preflight, .data(Data()), .substituted, nil)
        }
        var response = loader.load(asked, isWanted: isWanted)
        if case .success((let head, _)) = response.result, head.statusCode == 206, document(head) != nil {
            // Rewriting moves a body's bytes, so ranges of the original wouldn't match.
            response = loader.load(headers.request(request, for: url, isWhole: true), isWanted: isWanted)
        }
        return served(response, to: request, at: port, url)
    }

    /// Returns the URL of a request at its origin; `nil` if the request's path isn't valid in a URL.
    func url(of request: HTTPRequest, at port: UInt16) -> URL? {
        origins.origin(of: port).flatMap { URLText.url($0.description + request.pathAndQuery) }
    }

    private func served(_ response: DirectResponse, to request: HTTPRequest, at port: UInt16, _ url: URL)
        -> ServedResponse
    {
        switch response.result {
        case .failure(let error):
            return ServedResponse(status: 502, error.localizedDescription, at: url)
        case .success((let head, var body)):
            let rewriter = ReferenceRewriter(document: url) { [origins] in origins.local(for: $0) }
            let document = document(head)
            if let document {
                do throws(URLError) {
                    body = .data(try rewritten(body, as: document, rewriter))
                } catch {
                    return ServedResponse(status: 502, error.localizedDescription, at: url)
                }
            }
            let fields = ResponseHeaders(port: port, origins: origins, rewriter: rewriter).fields(
                of: head,
                isRewritten: document != nil,
                requestOrigin: request.header("Origin")
            )
            let source: ServedRequest.Source =
                switch response.kind {
                case .answered: .substituted
                case .confirmed: .confirmed
                case .loaded, .failed, .unmatched: .network
                }
            var answer = ResponseHead(status: head.statusCode, fields: fields)
            answer.removeInvalidFields()
            return ServedResponse(answer, body, source, head)
        }
    }

    /// Returns how to rewrite the body of a response; `nil` to leave it unchanged.
    private func document(_ head: HTTPURLResponse) -> Document? {
        guard rewritesReferences, let type = head.value(forHTTPHeaderField: "Content-Type") else { return nil }
        return Document(contentType: type)
    }

    private func rewritten(_ body: DirectResponse.Body, as document: Document, _ rewriter: ReferenceRewriter)
        throws(URLError) -> Data
    {
        let bytes = try body.bytes(upTo: Self.longestRewritten)
        return rewriter.rewritten(bytes, as: document.syntax, charset: document.charset) ?? bytes
    }
}

extension HTTPRequest {
    /// Whether the browser is asking for a document or a style sheet.
    fileprivate var asksForDocument: Bool {
        let destination = header("Sec-Fetch-Dest") ?? ""
        return ["document", "embed", "frame", "iframe", "object", "style"].contains(destination)
            || header("Accept")?.contains("text/html") == true
    }
}

/// A type of body whose references can be rewritten.
private struct Document {
    let syntax: References.Syntax
    let charset: String?

    /// Returns `nil` for any other type.
    init?(contentType: String) {
        switch MIMEType.essence(of: contentType) {
        case "text/html": syntax = .html
        case "application/xhtml+xml": syntax = .xhtml
        case "text/css": syntax = .css
        default: return nil
        }
        charset = DocumentCharset.named(in: contentType)
    }
}

extension DirectResponse.Body {
    /// Returns all bytes. Throws if there are more than the limit.
    fileprivate func bytes(upTo limit: Int) throws(URLError) -> Data {
        switch self {
        case .data(let data):
            return data
        case .large(let body):
            guard body.range.count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
            do throws(FileProblem) { return try body.file.bytes(body.range) } catch { throw URLError(.cannotOpenFile) }
        case .arriving(let response):
            var bytes = Data()
            while let piece = try response.nextBytes() {
                bytes += piece
                guard bytes.count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
            }
            return bytes
        }
    }
}
#endif
