/// The numbers of a map's entries with exact keys, by the URLs that the keys name.
///
/// It's a hash table with linear probing that finds the texts in the entries. A dictionary takes five times the memory, because it
/// holds the texts too.
struct ExactKeys: Sendable {
    private static let free: Int32 = -1

    /// The entries' numbers, each at the place of its URL's hash value or after it. At least half of the slots are free.
    private var slots = [Int32](repeating: free, count: 16)
    private var count = 0
    /// The URLs of the keys that aren't in canonical form.
    private var respelled: [Int32: String] = [:]

    /// Returns the number of the entry for a canonical URL; `nil` if there's none.
    func number(for url: String, in entries: [Entry]) -> Int? {
        let number = slots[slot(for: url, in: entries)]
        return number == Self.free ? nil : Int(number)
    }

    /// Adds the last of the entries. There must be no other entry for its URL yet.
    mutating func insert(_ url: String, in entries: [Entry]) {
        let number = Int32(entries.count - 1)
        if entries[Int(number)].key != url { respelled[number] = url }
        if 2 * (count + 1) > slots.count { grow(entries) }
        slots[slot(for: url, in: entries)] = number
        count += 1
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
        if !respelled.isEmpty, let url = respelled[number] { return url }
        return entries[Int(number)].key
    }
}
