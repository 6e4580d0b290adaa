#if os(Linux)
import Foundation

/// A process's memory use (proc(5)).
package enum ProcessMemory {
    /// Returns a field of a process's status, in bytes.
    ///
    /// - Parameters:
    ///   - field: `VmRSS` for what is in memory now, or `VmHWM` for the most that ever was.
    ///   - process: The process identifier, or `self`.
    package static func bytes(_ field: String, of process: String = "self") throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(field):") }
        guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw CocoaError(.fileReadCorruptFile) }
        return kibibytes << 10
    }
}
#endif
