import MapTools

/// What became of a response that `add` or `import` was to put into a map: what `--json` says of it, and its row in a table.
struct KeptRecord: Encodable {
    /// The map, where the record is the whole document.
    var map: String?
    let url: String
    let outcome: String
    var file: String?
    var bytes: Int?
    var contentType: String?
    /// The sort of reason why it was left.
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
        if let message { return (.yellow, [outcome, message, url]) }
        return (
            outcome == "unchanged" ? nil : .green,
            [outcome, contentType ?? "", Output.format(bytes: bytes ?? 0), file ?? "", url]
        )
    }
}
