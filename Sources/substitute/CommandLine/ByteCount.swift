import LocalSubstitution

/// A number of bytes as people type it, such as `5000`, `64k`, `256MiB` or `1GB`.
struct ByteCount: Sendable, Hashable, CustomStringConvertible {
    let bytes: Int

    /// Reads a size as `curl` and `head` do: `k`, `M` and `G` are powers of 1,024, alone or with `iB`, and of 1,000 with `B`.
    ///
    /// Returns `nil` if the text isn't a number above 0, or if it's too large.
    init?(_ text: String) {
        let digits = text.utf8.prefix(while: \.isDigit)
        let unit = String(text.utf8.dropFirst(digits.count)) ?? ""
        guard let number = Int(Substring(digits)), number > 0 else { return nil }
        let power = unit.first.map { Self.prefixes.firstIndex(of: $0.lowercased()) } ?? 0
        guard let power, ["", "B", "iB"].contains(unit.dropFirst()) else { return nil }
        let base = unit.dropFirst() == "B" ? 1_000 : 1_024
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(
            by: (0..<power).reduce(1) { unit, _ in unit * base }
        )
        guard !isTooLarge else { return nil }
        self.bytes = bytes
    }

    private static let prefixes = ["", "k", "m", "g"]

    private init(bytes: Int) { self.bytes = bytes }

    var description: String {
        for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] where bytes % (1 << shift) == 0 {
            return "\((bytes >> shift).grouped) \(unit)"
        }
        return bytes.counted("byte", "bytes")
    }
}

extension ByteCount {
    /// The longest body that a subcommand loads from a URL, unless `--limit` says otherwise.
    static let standardLimit = ByteCount(bytes: 256 << 20)

    static let limitOption = Option(name: "limit", value: "SIZE", help: "the largest body to load (default: 256M)")

    /// Returns the limit that `--limit` sets.
    static func limit(_ arguments: Arguments) throws(Failure) -> ByteCount {
        guard let text = arguments.value("limit") else { return standardLimit }
        guard let limit = ByteCount(text) else {
            throw Failure(usage: "“\(text)” isn't a size. Use --limit with a size such as 500000, 64k or 256M.")
        }
        return limit
    }

    /// Why a body that's longer than this limit isn't loaded.
    var refusal: String { "The body is larger than \(self). Raise the limit with --limit." }
}
