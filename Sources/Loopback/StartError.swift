#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The reason why a server could not start listening.
public struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the call that refused, such as `bind`.
    public let call: String

    /// The `errno` it left.
    public let code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call and the system's words for its error, such as `bind: Address already in use`.
    public var description: String {
        "\(call): \(String(cString: strerror(code)))"
    }

    /// The error that the system call that just failed left in `errno`.
    package static func current(_ call: String) -> StartError {
        StartError(call: call, code: errno)
    }
}
