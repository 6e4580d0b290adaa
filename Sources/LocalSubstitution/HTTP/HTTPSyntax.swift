#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The syntax of names and values in HTTP (RFC 9110 §5).
package enum HTTPSyntax {
    /// Returns whether a text is a token (RFC 9110 §5.6.2).
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { tokenBytes.contains($0) }
    }

    /// Returns whether a text is a MIME type without parameters, such as `text/html` (RFC 9110 §8.3.1).
    package static func isMIMEType(_ text: String) -> Bool {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return false }
        return isToken(String(text[..<slash])) && isToken(String(text[text.utf8.index(after: slash)...]))
    }

    /// Returns the number of bytes that a `Content-Length` states; `nil` if the value isn't valid. A list that repeats
    /// one number is valid (RFC 9110 §8.6).
    package static func length(_ value: String) -> Int? {
        if value.isDigits { return Int(value) }
        let numbers = Set(value.components(separatedBy: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        guard numbers.count == 1, let number = numbers.first, number.isDigits else { return nil }
        return Int(number)
    }

    /// Returns whether a response with a status may have a body (RFC 9110 §15).
    package static func hasBody(status: Int) -> Bool { status >= 200 && ![204, 205, 304].contains(status) }

    /// Returns what's wrong with a header that an entry sets, and how to fix it; `nil` if nothing is wrong.
    ///
    /// - Parameter isOfRequest: Whether the entry sets the header on a forwarded request; `false`, the default, for a
    ///   response.
    package static func problem(ofHeader name: String, value: String, isOfRequest: Bool = false) -> String? {
        guard isToken(name) else { return "“\(name)” isn't a header name. Use letters, digits and hyphens." }
        // RFC 9110 §5.5 allows visible characters, space and tab. It also allows all bytes above ASCII.
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            return "The header “\(name)” has a control character in its value. Remove the character."
        }
        let wrong = isOfRequest ? "host" : "content-encoding"
        guard [wrong, "content-length", "transfer-encoding"].contains(name.lowercased()) else { return nil }
        return isOfRequest
            ? "The header “\(name)” can't be set on a request, because the URL and body determine it. Remove the header."
            : "The header “\(name)” can't be set, because it wouldn't match the body. Remove the header."
    }

    /// The request headers that identify a user to a server. The response may be meant for that user alone.
    package static let credentialHeaders = ["Authorization", "Proxy-Authorization", "Cookie"]

    private static let tokenBytes = PercentEncoding.AllowedBytes(
        "!#$%&'*+-.^_`|~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    )

    // MARK: Dates

    /// Returns the text of a date in whole seconds (RFC 9110 §5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Uses no formatter of Foundation: creating a formatter takes longer than the rest of a first response.
    static func text(of date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let weekday = weekdays[Int(parts.tm_wday)]
        let month = months[Int(parts.tm_mon)]
        let day = String(parts.tm_mday, width: 2)
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { String($0, width: 2) }.joined(separator: ":")
        return "\(weekday), \(day) \(month) \(String(parts.tm_year + 1900, width: 4)) \(time) GMT"
    }

    /// Returns the date of a text in one of the three forms of RFC 9110 §5.6.7; `nil` for any other text.
    static func date(_ text: String) -> Date? {
        var parts = text.split { " ,-".contains($0) }.map { String($0) }
        // `Sun Nov  6 08:49:37 1994`
        if parts.count == 5 { parts = [parts[0], parts[2], parts[1], parts[4], parts[3], "GMT"] }
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: parts[2]) else { return nil }
        let numbers = ([parts[1], parts[3]] + parts[4].components(separatedBy: ":")).map { $0.isDigits ? Int($0) : nil }
        guard numbers.count == 5, let day = numbers[0], var year = numbers[1], let hour = numbers[2],
            let minute = numbers[3], let second = numbers[4]
        else { return nil }
        // `Sunday, 06-Nov-94 08:49:37 GMT`, at most 50 years from now.
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        if parts[3].count == 2 {
            let latest = calendar.component(.year, from: Date()) + 50
            year = latest - (latest - year) % 100
        }
        let date = DateComponents(
            calendar: calendar,
            year: year,
            month: month + 1,
            day: day,
            hour: hour,
            minute: minute,
            second: second
        )
        return date.isValidDate ? date.date : nil
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension HTTPURLResponse {
    /// The headers by name.
    package var headers: [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        return headers
    }
}

/// Headers by name. Names that differ only in case are equal (RFC 9110 §5.1).
extension Dictionary where Key == String, Value == String {
    /// The value of the header with a name in any letter case. Setting it removes all other spellings of the name.
    package subscript(header name: String) -> String? {
        get { self[name] ?? first { $0.key.isSameHeader(as: name) }?.value }
        set {
            for key in keys where key.isSameHeader(as: name) { self[key] = nil }
            self[name] = newValue
        }
    }

    /// Returns whether there's a header with one of these names, in any letter case.
    package func contains(headerIn names: [String]) -> Bool { keys.contains { names.contains(where: $0.isSameHeader) } }
}

extension String {
    /// Whether all characters are ASCII digits; `true` for an empty text.
    var isDigits: Bool { utf8.allSatisfy(\.isDigit) }

    /// Returns whether two header names are equal, ignoring ASCII case.
    package func isSameHeader(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}
