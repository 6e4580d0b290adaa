import Foundation
import HTTPSyntax
import LocalSubstitution
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The options that describe a request, such as `--header`. The subcommands `get` and `explain` have them.
enum RequestOptions {
    static let all: [Subcommand.Option] = [
        .option("header", "'NAME: VALUE'", help: "a header of the request (repeatable)", repeats: true),
        .option("method", Subcommand.Value("METHOD", methods), help: "the method (default: GET, or POST with --data)"),
        .option("data", "TEXT", help: "the body, from TEXT, @FILE or @- (standard input)", repeats: true),
        .option("range", "BYTES", help: "the range of bytes, such as 0-99, 100- or -50"),
        .flag("reload", help: "ignore local data, as a browser's reload does"),
    ]

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// Returns a request for each operand. Operands are URLs. All requests have the same method, headers and body.
    ///
    /// - Throws: A failure if there are none, if an operand isn't an http or https URL, or if an option is invalid.
    static func requests(_ arguments: Arguments) throws -> [URLRequest] {
        guard !arguments.operands.isEmpty else {
            throw Complaint(usage: "No URL is given. Name one, such as “https://example.com/logo.png”.")
        }
        let body = try body(arguments)
        return try arguments.operands.map { operand in
            guard let url = URLText.url(operand), let scheme = url.scheme,
                ["http", "https"].contains(scheme.lowercased()), url.host != nil
            else {
                throw Complaint(
                    usage: "“\(operand)” isn't an http or https URL. Use one such as “https://example.com/logo.png”."
                )
            }
            return try request(url, body, arguments)
        }
    }

    /// Returns a request with the method, headers and range that the options set. With a body, the default method is
    /// `POST`.
    ///
    /// - Parameter body: The request's body; `nil` for none.
    /// - Throws: A failure if an option's value is invalid.
    private static func request(_ url: URL, _ body: Data?, _ arguments: Arguments) throws(Complaint) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpBody = body
        if body != nil { request.httpMethod = "POST" }
        let methods = try arguments.all("method", as: "an HTTP method", "Use one such as POST.") {
            isMethod($0) ? $0.uppercased() : nil
        }
        if let method = methods.last { request.httpMethod = method }
        if arguments.has("reload") { request.cachePolicy = .reloadIgnoringLocalCacheData }
        let ranges = try arguments.all("range", as: "a range of bytes", "Use --range 0-99, 100- or -50, for example.") {
            isRange($0) ? "bytes=\($0)" : nil
        }
        if let range = ranges.last { request.setValue(range, forHTTPHeaderField: "Range") }
        for text in arguments.all("header") {
            let (name, value) = try header(text)
            request.addValue(value, forHTTPHeaderField: name)
        }
        if body != nil, request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        }
        return request
    }

    /// Returns the name and the value of a header, written as in curl: `Name: value`, or `Name;` for an empty value.
    ///
    /// - Throws: A failure if the text isn't a header, or if it's `Name:`, with which curl removes a default header.
    private static func header(_ text: String) throws(Complaint) -> (name: String, value: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let isEmpty = parts.count == 1 && parts[0].hasSuffix(";")
        let name = isEmpty ? parts[0].dropLast().trimmingCharacters(in: .whitespaces) : parts[0]
        guard !name.isEmpty, isEmpty || parts.count == 2 else {
            throw Complaint(usage: "“\(text)” isn't a header. Use --header 'Name: value'.")
        }
        guard isEmpty || !parts[1].isEmpty else {
            let advice = "To send an empty value, use “\(name);”."
            throw Complaint(usage: "“\(text)” can't remove a header, since URLSession may add it itself. \(advice)")
        }
        return (name, isEmpty ? "" : parts[1])
    }

    /// Returns whether a text consists of ASCII letters and hyphens, as all registered HTTP methods do.
    static func isMethod(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isLetter || $0 == UInt8(ascii: "-") }
    }

    /// Returns whether a text is a range of bytes, such as `0-99`, `100-` (from byte 100) or `-50` (the last 50 bytes).
    private static func isRange(_ text: String) -> Bool {
        let ends = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return ends.count == 2 && ends.contains { !$0.isEmpty } && ends.joined().allSatisfy(\.isDigit)
    }

    // MARK: The body

    /// Returns the request's body: the values of all `--data` options, joined with `&` as in curl. For a value such as
    /// `@name`, uses the contents of the file `name`. Returns `nil` if the option isn't given.
    private static func body(_ arguments: Arguments) throws -> Data? {
        guard arguments.has("data") else { return nil }
        let parts = try arguments.all("data").map { value in
            value.hasPrefix("@") ? try contents(of: String(value.dropFirst())) : Data(value.utf8)
        }
        return Data(parts.joined(separator: "&".utf8))
    }

    /// Leaves out line breaks and null bytes, as curl does.
    ///
    /// - Parameter name: The file's path; `-` for standard input.
    /// - Throws: A failure if the file can't be read, or is a folder.
    private static func contents(of name: String) throws(Complaint) -> Data {
        if name != "-", FileStatus(path: name)?.kind == .folder { throw unreadable(name, "it's a folder") }
        let descriptor = name == "-" ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(name, String(cString: strerror(errno))) }
        do {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            return try (file.readToEnd() ?? Data()).filter { ![0x0A, 0x0D, 0].contains($0) }
        } catch {
            throw unreadable(name, error.localizedDescription)
        }
    }

    private static func unreadable(_ name: String, _ reason: String) -> Complaint {
        Complaint(
            "--data: \(name == "-" ? "Standard input" : "“\(name)”") can't be read: \(reason.sentence) "
                + "Name a readable file after @."
        )
    }
}
