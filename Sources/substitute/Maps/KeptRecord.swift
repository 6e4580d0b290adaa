import MapTools

/// What happened to a response that `add` or `import` handled: the JSON that `--json` prints, and a row in a table.
struct KeptRecord: Encodable {
    /// The map, if this record is the whole document.
    var map: String?
    let url: String
    let outcome: String
    var file: String?
    var bytes: Int?
    var contentType: String?
    /// The kind of reason why it was left out.
    var reason: String?
    var message: String?

    init(_ kept: KeptFile, url: String) {
        self.init(url: url, .success(kept))
    }

    init(_ item: ArchivedItem) {
        self.init(url: item.url, item.outcome)
    }

    private init(url: String, _ result: Result<KeptFile, NotImported>) {
        self.url = url
        switch result {
        case .success(let kept):
            outcome = kept.change.rawValue
            (file, bytes, contentType) = (kept.name, kept.bytes, kept.contentType)
        case .failure(let left):
            outcome = "left"
            (reason, message) = (left.kind, left.description)
        }
    }

    var row: (color: PrintedText.Color?, cells: [String]) {
        if let message { return (.yellow, [outcome, message] + (url.isEmpty ? [] : [url])) }
        return (
            outcome == "unchanged" ? nil : .green,
            [outcome, contentType ?? "", Output.format(bytes: bytes ?? 0), file ?? "", url]
        )
    }
}
