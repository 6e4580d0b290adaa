package import Foundation
import HTTPSyntax

/// A short digest of a text: SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012) and a fixed key.
///
/// The digest is the same in every process, so it can be stored. `Hasher`'s values differ between processes, and Swift
/// has no other hash function on every platform. The digest is fast, and two texts practically never have the same
/// digest by chance. But an attacker can make two texts with the same digest.
package enum Digest {
    /// The digest in base64url, without padding: 22 characters that are allowed in URLs and file names.
    static func base64(of text: String) -> String {
        var text = text
        return text.withUTF8 { base64(digest(UnsafeRawBufferPointer($0))) }
    }

    @inline(never)  // Otherwise, each of its callers would contain a copy.
    static func base64(of data: Data) -> String { data.withUnsafeBytes { base64(digest($0)) } }

    private static func base64(_ digest: (high: UInt64, low: UInt64)) -> String {
        String(unsafeUninitializedCapacity: 22) { characters in
            var (high, low) = digest
            // Takes six bits at a time from the top. Only two bits are left for the last character.
            for index in 0..<22 {
                characters[index] = alphabet[Int(high >> 58)]
                high = high << 6 | low >> 58
                low <<= 6
            }
            return 22
        }
    }

    /// The digest in 32 lowercase digits. They stay unique in file systems that ignore letter case.
    package static func hexadecimal(of data: Data) -> String {
        let (high, low) = data.withUnsafeBytes { digest($0) }
        return String(high, radix: 16, width: 16) + String(low, radix: 16, width: 16)
    }

    /// The alphabet of base64url (RFC 4648 §5).
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func digest(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) {
        var state = State()
        let whole = bytes.count & ~7
        for offset in stride(from: 0, to: whole, by: 8) {
            state.compress(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        var last = UInt64(bytes.count & 0xFF) << 56
        for (index, byte) in bytes[whole...].enumerated() { last |= UInt64(byte) << (8 * UInt64(index)) }
        state.compress(last)
        return state.finish()
    }

    private struct State {
        // The algorithm's initial words, for the key 0 and 128 bits of output.
        private var v0: UInt64 = 0x736F_6D65_7073_6575
        private var v1: UInt64 = 0x646F_7261_6E64_6F6D ^ 0xEE
        private var v2: UInt64 = 0x6C79_6765_6E65_7261
        private var v3: UInt64 = 0x7465_6462_7974_6573

        mutating func compress(_ word: UInt64) {
            v3 ^= word
            round(2)
            v0 ^= word
        }

        mutating func finish() -> (high: UInt64, low: UInt64) {
            v2 ^= 0xEE
            round(4)
            let first = v0 ^ v1 ^ v2 ^ v3
            v1 ^= 0xDD
            round(4)
            return (first, v0 ^ v1 ^ v2 ^ v3)
        }

        private mutating func round(_ count: Int) {
            for _ in 0..<count {
                v0 = v0 &+ v1
                v1 = rotate(v1, 13) ^ v0
                v0 = rotate(v0, 32)
                v2 = v2 &+ v3
                v3 = rotate(v3, 16) ^ v2
                v0 = v0 &+ v3
                v3 = rotate(v3, 21) ^ v0
                v2 = v2 &+ v1
                v1 = rotate(v1, 17) ^ v2
                v2 = rotate(v2, 32)
            }
        }

        private func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
            word << count | word >> (64 - count)
        }
    }
}
