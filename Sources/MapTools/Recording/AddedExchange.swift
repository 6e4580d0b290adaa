/// An exchange that was added to a map.
package struct AddedExchange: Sendable {
    /// The name of its file; empty if the response's body is empty.
    package let file: String
    /// What the entry doesn't tell apart, without a period at the end; `nil` if there's nothing to say.
    package let note: String?
}
