#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension LoopbackServer {
    /// The reason why an origin could not start listening.
    public struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name of the call that refused, such as `bind`.
        public let call: String

        /// The `errno` it left.
        public let code: Int32

        /// The call and the system's words for its error, such as `bind: Address already in use`.
        public var description: String {
            "\(call): \(String(cString: strerror(code)))"
        }

        /// The error that the system call that just failed left in `errno`.
        static func current(_ call: String) -> StartError {
            StartError(call: call, code: errno)
        }
    }
}
