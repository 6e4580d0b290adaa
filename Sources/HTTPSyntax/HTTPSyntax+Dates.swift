package import Foundation

extension HTTPSyntax {
    /// In whole seconds (RFC 9110 §5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Uses no formatter of Foundation: creating a formatter takes longer than the rest of a first response.
    package static func text(of date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let weekday = weekdays[Int(parts.tm_wday)]
        let month = months[Int(parts.tm_mon)]
        let day = String(parts.tm_mday, width: 2)
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { String($0, width: 2) }.joined(separator: ":")
        return "\(weekday), \(day) \(month) \(String(parts.tm_year + 1900, width: 4)) \(time) GMT"
    }

    /// Reads the three forms of RFC 9110 §5.6.7.
    package static func date(_ text: String) -> Date? {
        var parts = text.components(separatedBy: CharacterSet(charactersIn: " ,-")).filter { !$0.isEmpty }
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
