import Foundation

/// The error of a system call that failed when a server started to listen.
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

    package var fix: String {
        switch code {
        case EMFILE, ENFILE: "Close some files, or raise the limit for open files."
        case EACCES, EPERM:
            "Allow incoming connections. A sandboxed Mac app needs the entitlement com.apple.security.network.server."
        default: "Check that programs can listen on 127.0.0.1."
        }
    }

    /// Reads `errno`, so call this right after the failed system call.
    package static func current(_ call: String) -> StartError {
        StartError(call: call, code: errno)
    }
}
