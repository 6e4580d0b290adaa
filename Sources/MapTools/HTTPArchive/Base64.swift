import Foundation
import LocalSubstitution

/// Bytes as base64 (RFC 4648 §4), in a JSON string.
enum Base64 {
    /// `nil` if it is none. Line breaks and escaped slashes, as some programs write them, are no harm.
    static func decoded(_ raw: UnsafeBufferPointer<UInt8>) -> Data? {
        guard let base = raw.baseAddress else { return Data() }
        // Not copied: `Data` is only read before the buffer goes.
        let whole = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: UnsafeRawPointer(base)),
            count: raw.count,
            deallocator: .none
        )
        if let bytes = Data(base64Encoded: whole) { return bytes }
        guard let text = JSONEscapes.bytes(raw) else { return nil }
        return Data(base64Encoded: text.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) })
    }
}
