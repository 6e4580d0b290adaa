import Foundation
import HTTPSyntax
import TestSupport
import Testing

@Suite("Dates in HTTP", .values)
struct DateTests {
    @Test(
        "Dates are written in GMT, with English names and two digits",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
        ]
    )
    func string(seconds: Int, text: String) {
        let date = Date(timeIntervalSince1970: Double(seconds))
        #expect(HTTPSyntax.text(of: date) == text)
        #expect(HTTPSyntax.date(text) == date)
    }

    @Test(
        "Dates are read in all three forms",
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49 GMT", nil),
            ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("Sun, +6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", nil), ("784111777", nil), ("", nil),
        ] as [(String, Double?)]
    )
    func date(text: String, seconds: Double?) {
        #expect(HTTPSyntax.date(text)?.timeIntervalSince1970 == seconds)
    }
}
