/// What has become of an exchange that a map has got.
package struct AddedExchange: Sendable {
    /// The name of its file; empty if its body is empty.
    package let file: String
    /// What its entry doesn't tell apart, in words without a full stop; `nil` if there's nothing to say.
    package let note: String?
}
