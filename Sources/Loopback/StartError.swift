import Foundation

/// The error of the system call that keeps a server from listening.
public struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the system call that failed, such as `bind`.
    public let call: String

    /// The error number (`errno`) of the call.
    public let code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call and the system's message for the error, such as `bind: Address already in use`.
    public var description: String {
        "\(call): \(String(cString: strerror(code)))"
    }

    /// Returns the error of the system call that just failed, from `errno`.
    package static func current(_ call: String) -> StartError {
        StartError(call: call, code: errno)
    }
}
