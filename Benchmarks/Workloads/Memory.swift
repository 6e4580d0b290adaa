import Foundation

/// What this process takes of the machine's memory.
package enum Memory {
    /// The bytes in memory, mapped files included; 0 where there is no `/proc`. (`statm` isn't exact: the kernel counts each
    /// thread's pages in advance.)
    package static var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
        let words = text.split(separator: "\n").first { $0.hasPrefix("Rss:") }?.split(separator: " ") ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) * 1_024 : 0
    }
}
