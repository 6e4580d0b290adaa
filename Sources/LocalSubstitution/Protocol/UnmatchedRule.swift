import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Which requests may not reach the network.
struct UnmatchedRule: Sendable {
    /// Whether requests fail that nothing answers and that are no exceptions.
    let isStrict: Bool
    private var patterns = PatternIndex()
    private var urls: Set<String> = []

    /// - Throws: If an exception is neither a URL nor a match pattern.
    init(_ unmatched: LocalSubstitutionCache.Unmatched) throws(AttachmentError) {
        guard case .fail(let exceptions) = unmatched else {
            isStrict = false
            return
        }
        isStrict = true
        for (number, key) in exceptions.enumerated() {
            do throws(URLSyntaxError) {
                if key.utf8.contains(UInt8(ascii: "*")) {
                    patterns.insert(try MatchPattern(key), number: number)
                } else {
                    urls.insert(try NormalizedURL(key: key).canonical)
                }
            } catch {
                throw AttachmentError(.invalidException, "the exception “\(key)” \(error.message)")
            }
        }
    }

    func fails(_ request: URLRequest) -> Bool {
        guard isStrict, let url = request.url.flatMap({ try? NormalizedURL($0.absoluteString) }) else {
            return isStrict
        }
        return !urls.contains(url.canonical) && patterns.matches(url, ignoring: nil).isEmpty
    }
}
