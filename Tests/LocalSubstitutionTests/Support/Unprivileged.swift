import Foundation

/// Does something with the permissions of an ordinary user, for whom a folder can be one that it may not write in.
///
/// Root may write anywhere. Where the tests run as root, this thread becomes another user to the file system; elsewhere nothing
/// has to be done.
func withoutPrivileges<Result>(_ work: () throws -> Result) rethrows -> Result {
    #if os(Linux)
    typealias SetUser = @convention(c) (uid_t) -> CInt
    // Of the thread alone. Swift's module of the C library lacks it.
    guard geteuid() == 0, let symbol = dlsym(nil, "setfsuid") else { return try work() }
    let setUser = unsafeBitCast(symbol, to: SetUser.self)
    _ = setUser(65_534)
    defer { _ = setUser(0) }
    #endif
    return try work()
}

extension TemporaryFolder {
    /// Does something without privileges while nothing can be made in one folder, here or `.`. All else may be written.
    func whileReadOnly<Result>(_ name: String, _ work: () throws -> Result) throws -> Result {
        for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: url.path) {
            _ = chmod(file(name).path, 0o777)
        }
        _ = chmod(file(name).path, 0o555)
        defer { _ = chmod(file(name).path, 0o755) }
        return try withoutPrivileges(work)
    }
}
