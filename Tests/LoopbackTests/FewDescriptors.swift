#if os(Linux)
import Glibc
import Loopback
import TestSupport

/// A limit for this process, which can open only a few more descriptors. The sockets of clients are made before.
struct FewDescriptors {
    /// Sockets that aren't connected yet.
    let clients: [Socket]

    /// - Parameter count: How many descriptors the process may still open.
    init(count: Int, clients: Int) throws {
        // A new descriptor gets the lowest free number, and the limit applies to numbers.
        let reserved = (0..<count).map { _ in open("/dev/null", O_RDONLY) }
        self.clients = try (0..<clients).map { _ in try RawClient.unconnected() }
        for descriptor in reserved { close(descriptor) }
        Self.setLimit((reserved.max() ?? 0) + 1)
    }

    /// Limits the numbers of new descriptors.
    static func setLimit(_ number: Int32) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(rlim_t(number), limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The number of descriptors that are open.
    static var openCount: Int { (0..<getdtablesize()).count { fcntl($0, F_GETFD) >= 0 } }

    /// Returns the number of free descriptors.
    func free() -> Int {
        let all = opened()
        for descriptor in all { close(descriptor) }
        return all.count
    }

    /// Opens all descriptors but some.
    func use(allBut count: Int) {
        for descriptor in opened().suffix(count) { close(descriptor) }
    }

    private func opened() -> [Int32] {
        var all: [Int32] = []
        while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 { all.append(descriptor) }
        return all
    }
}

/// The limit of this user's threads, which this process can reach and leave again.
final class ThreadLimit {
    /// Limits don't apply to root, so root becomes another user.
    init() throws {
        if geteuid() == 0, setuid(65_533) != 0 { throw StartError.current("setuid") }
    }

    /// Whether no thread can be made.
    var isReached = false {
        didSet {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
            limit.rlim_cur = isReached ? 0 : limit.rlim_max
            setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
        }
    }
}
#endif
