/// Why a text is no `http` or `https` URL, or no match pattern, and what to do.
package struct URLSyntaxError: Error {
    package let message: String

    init(_ message: String) { self.message = message }
}
