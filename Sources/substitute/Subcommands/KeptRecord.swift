import MapTools

/// What happened to a response that `add` or `import` handled: the JSON that `--json` prints, and a row in a table.
struct KeptRecord: Encodable {
    /// The map's path, if this record is the whole JSON document.
    var map: String?
    let url: String
    let outcome: String
    var file: String?
    var bytes: Int?
    var contentType: String?
    /// The kind of reason why the response was left out; `nil` if it was kept.
    var reason: String?
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

    var row: (color: Output.Color?, cells: [String]) {
        if let message { return (.yellow, [outcome, message] + (url.isEmpty ? [] : [url])) }
        return (
            outcome == "unchanged" ? nil : .green,
            [outcome, contentType ?? "", Output.format(bytes: bytes ?? 0), file ?? "", url]
        )
    }
}
