import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Decides which requests must not reach the network.
package struct UnmatchedRule: Sendable {
    /// Whether unanswered requests fail, unless they're exceptions.
    package let isStrict: Bool
    private var exceptions = MapKeys()

    /// - Throws: An error if an exception is neither a URL nor a match pattern.
    package init(_ unmatched: LocalSubstitutionCache.Unmatched) throws(AttachmentError) {
        guard case .fail(let exceptions) = unmatched else {
            isStrict = false
            return
        }
        isStrict = true
        for key in exceptions {
            do throws(URLSyntaxError) {
                try self.exceptions.insert(key)
            } catch {
                throw AttachmentError(.invalidException, "The exception “\(key)” \(error.message)")
            }
        }
    }

    package func fails(_ request: URLRequest) -> Bool {
        guard isStrict, let url = request.url.flatMap({ try? NormalizedURL($0.absoluteString) }) else {
            return isStrict
        }
        return !exceptions.match(url)
    }
}
