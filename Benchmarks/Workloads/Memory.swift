import Foundation

/// The memory that this process uses.
package enum Memory {
    /// The bytes of resident memory, including mapped files; 0 where there is no `/proc`. (`statm` isn't exact, since the kernel
    /// counts each thread's pages in advance.)
    package static var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
        let words = text.split(separator: "\n").first { $0.hasPrefix("Rss:") }?.split(separator: " ") ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) * 1_024 : 0
    }
}
