import Foundation
import HTTPSyntax
package import LocalSubstitution

extension RecordedResponse {
    /// A closure that changes or excludes a response before it's written.
    package typealias Redaction = @Sendable (inout RecordedResponse) -> Void

    /// Calls a closure with the response, and then applies the rules for what may be written.
    ///
    /// - Returns: The headers that aren't written, although the closure has set them or left them. The reason follows
    ///   each name in parentheses.
    /// - Throws: Why nothing is written: the closure excludes the response, or its new status or target can't be
    ///   written.
    package mutating func redact(_ redaction: Redaction) throws(Complaint) -> [String] {
        let original = self
        redaction(&self)
        if isExcluded { throw .excludedByClosure }
        guard 200...599 ~= status else { throw .status(status) }
        if !HTTPSyntax.hasBody(status: status) { body = Data() }
        let leftOut = removeHeaders(changedFrom: original)
        if Redirect.statuses.contains(status), leftOut.contains(where: { $0.name.isSameHeader(as: "Location") }) {
            throw .secretHeader("Location")
        }
        return leftOut.map { "\($0.name) (\($0.reason))" }
    }

    /// Removes the headers that may not be written, and spellings of a name that a closure has replaced by another
    /// spelling.
    private mutating func removeHeaders(changedFrom original: Self) -> [(name: String, reason: String)] {
        var leftOut: [(name: String, reason: String)] = []
        let sorted = headers.sorted { $0.key < $1.key }
        let isKept = { (name: String, value: String) in original.headers[header: name] == value }
        headers = [:]
        for (name, value) in sorted.filter(isKept) + sorted.filter({ !isKept($0.key, $0.value) }) {
            let reason =
                if isKept(name, value) {
                    body != original.body && HTTPSyntax.headersOfBytes.contains(where: name.isSameHeader)
                        ? "it describes the body that the server sent" : nil as String?
                } else {
                    RecordingRules.Headers.reasonToLeaveOut(name, value: value)
                }
            if let reason { leftOut.append((name, reason)) } else { headers[header: name] = value }
        }
        return leftOut
    }
}
