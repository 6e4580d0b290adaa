/// The numbers of a map's entries with exact keys, by the URLs that the keys name.
///
/// It's a hash table with linear probing. It stores only the numbers, and compares the keys in the entries. A dictionary takes 2.5
/// to 5 times the memory, because it stores a string for each URL.
struct ExactKeys: Sendable {
    private static let free: Int32 = -1

    /// Each number is in the slot for its URL's hash value, or in the next free one after it. At least half of the slots are free.
    private var slots = [Int32](repeating: free, count: 16)
    /// The canonical URLs of keys that aren't in canonical form, by the number of their entry.
    private var canonicalURLs: [Int32: String] = [:]

    /// Returns the number of the entry for a canonical URL; `nil` if there's none.
    func number(for url: String, in entries: [Entry]) -> Int? {
        let number = slots[slot(for: url, in: entries)]
        return number == Self.free ? nil : Int(number)
    }

    /// Adds the last of the entries. There must be no other entry for its URL yet.
    mutating func insert(_ url: String, in entries: [Entry]) {
        let number = Int32(entries.count - 1)
        if entries[Int(number)].key != url { canonicalURLs[number] = url }
        if 2 * entries.count > slots.count { grow(entries) }
        slots[slot(for: url, in: entries)] = number
    }

    private mutating func grow(_ entries: [Entry]) {
        let numbers = slots.filter { $0 != Self.free }
        slots = Array(repeating: Self.free, count: 2 * slots.count)
        for number in numbers { slots[slot(for: url(of: number, entries), in: entries)] = number }
    }

    /// Returns the slot that has the URL's entry, or the free slot where it would be.
    private func slot(for url: String, in entries: [Entry]) -> Int {
        var slot = url.hashValue & (slots.count - 1)
        while slots[slot] != Self.free, self.url(of: slots[slot], entries) != url {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private func url(of number: Int32, _ entries: [Entry]) -> String {
        if !canonicalURLs.isEmpty, let url = canonicalURLs[number] { return url }
        return entries[Int(number)].key
    }
}
