/// The reason why a text is neither an `http` or `https` URL nor a match pattern, and what to do.
package struct URLSyntaxError: Error {
    private let predicate: String
    private let advice: String

    init(_ predicate: String, _ advice: String) {
        self.predicate = predicate
        self.advice = advice
    }

    /// What is wrong and what to do, to be put after the name of the text. Ends with a period.
    package var message: String { "\(predicate). \(advice)" }

    /// What is wrong, without advice and period, for a label or in the middle of a sentence.
    package var fragment: String { predicate }

    static let withoutScheme = URLSyntaxError("has no scheme", "Begin it with https:// or http://.")
}
