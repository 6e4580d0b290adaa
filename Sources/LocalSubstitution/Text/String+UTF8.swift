import Foundation

extension String {
    /// Creates a string from UTF-8 bytes; `nil` if they aren't valid.
    ///
    /// `String(validating:as:)` does the same, but needs iOS 18.
    package init?(utf8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid bytes with U+FFFD, so the bytes then differ.
        guard text.utf8.count == bytes.count, text.hasUTF8(bytes) else { return nil }
        self = text
    }

    private func hasUTF8(_ bytes: some Collection<UInt8>) -> Bool {
        // Contiguous bytes are compared at once, since this runs for every string of a map.
        let isEqual = bytes.withContiguousStorageIfAvailable { bytes in
            utf8.withContiguousStorageIfAvailable { own in
                guard let own = own.baseAddress, let other = bytes.baseAddress else { return true }
                return memcmp(own, other, bytes.count) == 0
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(bytes)
    }
}
