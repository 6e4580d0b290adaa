/// Why a text is neither an `http` or `https` URL nor a match pattern, and what to do.
package struct URLSyntaxError: Error {
    package let message: String

    init(_ message: String) { self.message = message }

    static let withoutScheme = URLSyntaxError("has no scheme: begin it with https:// or http://")
}
