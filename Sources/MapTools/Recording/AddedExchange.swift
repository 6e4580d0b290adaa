/// An exchange that was added to a map.
package struct AddedExchange: Sendable {
    /// The name of its file; empty if the response's body is empty.
    package let file: String
    /// What the entry doesn't tell apart, without a period at the end; `nil` if there's nothing to say.
    package let note: String?
}

extension AddedExchange {
    /// A request to which tests got different responses, which a map can't tell apart.
    package struct Conflict: Sendable, Hashable {
        /// A test that made the request.
        package struct Test: Sendable, Hashable {
            /// The position of the test among those that were added.
            package let number: Int
            /// The statuses of its responses, in order.
            package let statuses: [Int]
            /// Whether the map answers this test with its own responses.
            package let isKept: Bool
        }

        package let method: String
        package let url: String
        /// The condition on the request's body, as the map has it; `nil` if there is none.
        package let when: String?
        /// Whether a part of the requests' bodies isn't compared, since it may be a credential.
        package let isRedacted: Bool
        package let tests: [Test]
    }
}
