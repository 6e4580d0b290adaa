import MapTools

/// A record of what `add` or `import` did with a response. The subcommand prints it as JSON, or as a row in a table.
struct KeptRecord: Encodable {
    /// The map's path; `nil` if the record is a part of a JSON document.
    var map: String?
    let url: String
    let outcome: String
    /// The name of the body's file; `nil` if the response was left out.
    var file: String?
    /// The size of the body; `nil` if the response was left out.
    var bytes: Int?
    /// The `Content-Type` that the file is served with; `nil` if the response was left out.
    var contentType: String?
    /// The kind of reason why the response was left out; `nil` if the response was kept.
    var reason: String?
    /// The reason as a sentence for people; `nil` if the response was kept.
    var message: String?

    init(url: String, _ outcome: Result<EditedMap.KeptFile, HTTPArchive.Refusal>) {
        self.url = url
        switch outcome {
        case .success(let kept):
            self.outcome = kept.change.rawValue
            (file, bytes, contentType) = (kept.name, kept.bytes, kept.contentType)
        case .failure(let left):
            self.outcome = "left"
            (reason, message) = (left.kind, left.description)
        }
    }

    /// The record as a table row. An unchanged response has no color.
    var row: (color: Output.Color?, cells: [String]) {
        if let message { return (.yellow, [outcome, message] + (url.isEmpty ? [] : [url])) }
        return (
            outcome == "unchanged" ? nil : .green,
            [outcome, contentType ?? "", Output.format(bytes: bytes ?? 0), file ?? "", url]
        )
    }
}
