import Foundation
import LoopbackOrigin

/// A gzip stream (RFC 1952) of zeros that decodes to 158 times its length.
enum GzipBomb {
    static func answer(bytes: Int) -> LoopbackServer.Answer {
        LoopbackServer.Answer(
            headers: [("Content-Encoding", "gzip"), ("Content-Type", "application/octet-stream")],
            body: stream(bytes: bytes)
        )
    }

    /// Makes a stream of at least this many zeros. Its checksum is wrong, but no reader gets that far.
    private static func stream(bytes: Int) -> Data {
        var data = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        var (buffer, count) = (UInt64(0), 0)
        func put(_ bits: UInt64, _ width: Int) {
            buffer |= bits << UInt64(count)
            count += width
            while count >= 8 {
                data.append(UInt8(truncatingIfNeeded: buffer))
                buffer >>= 8
                count -= 8
            }
        }
        // One block with the fixed codes (RFC 1951 §3.2.6), whose bits are in reverse order.
        put(0b011, 3)
        put(0b0000_1100, 8)
        // Length 258 is the code 11000101, and distance 1 is 00000. Eight copies are 13 bytes, so those after the first repeat.
        for _ in 0..<8 { put(0b00000_1010_0011, 13) }
        let start = data.count
        for _ in 0..<8 { put(0b00000_1010_0011, 13) }
        let copies = Data(data[start...])
        for _ in 0..<(bytes / 258 / 8) { data += copies }
        put(0, 7)
        put(0, 7)
        return data + Data(count: 8)
    }
}
