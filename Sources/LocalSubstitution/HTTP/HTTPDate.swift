import Foundation

/// Dates in the format of HTTP (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// Returns the text of a date, in whole seconds.
    ///
    /// This doesn't use a formatter of Foundation: creating one takes longer than the rest of a first response.
    static func string(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let weekday = weekdays[Int(parts.tm_wday)]
        let month = months[Int(parts.tm_mon)]
        let day = String(parts.tm_mday, width: 2)
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { String($0, width: 2) }.joined(separator: ":")
        return "\(weekday), \(day) \(month) \(String(parts.tm_year + 1900, width: 4)) \(time) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
