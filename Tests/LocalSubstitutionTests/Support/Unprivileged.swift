import Foundation

/// Runs code with the permissions of an ordinary user, who can't write to every folder.
///
/// Root can write anywhere. If the tests run as root, this thread becomes another user to the file system; otherwise nothing
/// changes.
func withoutPrivileges<Result>(_ work: () throws -> Result) rethrows -> Result {
    #if os(Linux)
    typealias SetUser = @convention(c) (uid_t) -> CInt
    // Affects only this thread. Swift's module for the C library lacks it.
    guard geteuid() == 0, let symbol = dlsym(nil, "setfsuid") else { return try work() }
    let setUser = unsafeBitCast(symbol, to: SetUser.self)
    _ = setUser(65_534)
    defer { _ = setUser(0) }
    #endif
    return try work()
}

extension TemporaryFolder {
    /// Runs code without privileges while one folder, here or `.`, can't be written to. Everything else is writable.
    func whileReadOnly<Result>(
        _ name: String,
        permissions: mode_t = 0o555,
        _ work: () throws -> Result
    ) throws -> Result {
        for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: url.path) {
            _ = chmod(file(name).path, 0o777)
        }
        _ = chmod(file(name).path, permissions)
        defer { _ = chmod(file(name).path, 0o755) }
        return try withoutPrivileges(work)
    }
}
