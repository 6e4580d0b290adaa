import Foundation
import Guarded

/// Keeps every other recorder away from a folder, in this process and others, until it is released or goes. The system
/// releases it when a process ends, however that happens.
final class FolderLock: Sendable {
    /// `nil` once it was released.
    private let held: Guarded<Int32?>

    static let name = ".recorder.lock"

    init(_ folder: URL) throws(SubstitutionRecorderError) {
        let descriptor = try FileInPlace.open(Self.name, in: folder)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw SubstitutionRecorderError(
                    .unwritable,
                    folder,
                    "can't be locked: \(String(cString: strerror(code)))"
                )
            }
            throw SubstitutionRecorderError(
                .inUse,
                folder,
                "is in use by another recorder\(owner): end that one first, or give this one a folder of its own"
            )
        }
        _ = ftruncate(descriptor, 0)
        _ = WrittenFolder.write(Data("\(getpid())\n".utf8), to: descriptor)
        held = Guarded(descriptor)
    }

    deinit {
        release()
    }

    var isHeld: Bool { held.withLock { $0 != nil } }

    func release() {
        guard let descriptor = held.withLock({ $0.take() }) else { return }
        // Not by closing it alone: a process that is being started just now has it open too, until it runs its program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Only for the message: what the other recorder has written of itself.
    private static func owner(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0,
            let number = Int32(String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .newlines))
        else { return "" }
        return number == getpid() ? " of this process" : " (process \(number))"
    }
}
