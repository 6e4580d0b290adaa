// A substitute for what Apple's Foundation has and Linux's doesn't, or has otherwise. It's compiled as one more file of each target.
// It's declared as Xcode shows it, with bodies that never run. A declaration here hides an imported one with the same name.

import Foundation
import FoundationNetworking

// MARK: URLSession

extension URLProtocol {
    var task: URLSessionTask? { nil }
}

extension URLSessionConfiguration {
    /// In Apple's headers it's a property of the class.
    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    var usesClassicLoadingMode: Bool {
        get { true }
        set {}
    }
}

// MARK: What asynchronous code can't call

extension NSLock {
    @available(*, noasync)
    func lock() {}

    @available(*, noasync)
    func unlock() {}
}

extension Thread {
    @available(*, noasync)
    static func sleep(forTimeInterval seconds: TimeInterval) {}
}

extension DispatchSemaphore {
    @available(*, noasync)
    func wait() {}

    @available(*, noasync)
    @discardableResult
    func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }

    @available(*, noasync)
    @discardableResult
    func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult { .success }
}

extension DispatchGroup {
    @available(*, noasync)
    func wait() {}

    @available(*, noasync)
    @discardableResult
    func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }

    @available(*, noasync)
    @discardableResult
    func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult { .success }
}

// MARK: Run loops

/// From the module `ObjectiveC`, which Apple's Foundation exports.
func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

final class CFRunLoop {}
final class CFString {}

struct CFRunLoopMode {
    let rawValue: CFString

    static var defaultMode: CFRunLoopMode! { CFRunLoopMode(rawValue: CFString()) }
}

func CFRunLoopGetCurrent() -> CFRunLoop! { nil }
func CFRunLoopPerformBlock(_ loop: CFRunLoop!, _ mode: AnyObject!, _ block: (() -> Void)!) {}
func CFRunLoopWakeUp(_ loop: CFRunLoop!) {}

// MARK: Darwin's types, where Glibc's are others

typealias mode_t = UInt16
typealias dev_t = Int32
typealias nlink_t = UInt16
typealias nfds_t = UInt32
typealias sa_family_t = UInt8
typealias pthread_t = UnsafeMutablePointer<OpaquePointer>

extension stat {
    var st_dev: dev_t {
        get { 0 }
        set {}
    }
    var st_mode: mode_t {
        get { 0 }
        set {}
    }
    var st_nlink: nlink_t {
        get { 0 }
        set {}
    }
    var st_mtimespec: timespec { timespec() }
    var st_ctimespec: timespec { timespec() }
    var st_mtim: OfLinuxOnly { OfLinuxOnly() }
    var st_ctim: OfLinuxOnly { OfLinuxOnly() }
    var st_atim: OfLinuxOnly { OfLinuxOnly() }
}

/// The type of what Darwin doesn't have.
struct OfLinuxOnly {}

let S_IFMT: mode_t = 0o170000
let S_IFIFO: mode_t = 0o010000
let S_IFDIR: mode_t = 0o040000
let S_IFREG: mode_t = 0o100000
let S_IFLNK: mode_t = 0o120000
let S_IFSOCK: mode_t = 0o140000
let S_IWGRP: mode_t = 0o000020
let S_IWOTH: mode_t = 0o000002

// Disfavored, so that a literal keeps Glibc's type.
@_disfavoredOverload @discardableResult
func openat(_ descriptor: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }
@_disfavoredOverload @discardableResult
func fchmod(_ descriptor: Int32, _ mode: mode_t) -> Int32 { 0 }
@_disfavoredOverload @discardableResult
func chmod(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { 0 }

/// An array of 1,024 characters; Glibc's has 256. Code that needs to know measures it.
extension dirent {
    var d_name: DirectoryName {
        get { DirectoryName() }
        set {}
    }

    struct DirectoryName {}
}

let SOCK_STREAM: Int32 = 1

extension sockaddr_in {
    var sin_len: UInt8 {
        get { 0 }
        set {}
    }
    var sin_family: sa_family_t {
        get { 0 }
        set {}
    }
}

extension timeval {
    var tv_usec: Int32 {
        get { 0 }
        set {}
    }
}

@_disfavoredOverload @discardableResult
func poll(_ polls: UnsafeMutablePointer<pollfd>!, _ count: nfds_t, _ timeout: Int32) -> Int32 { 0 }

@discardableResult
func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>!,
    _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 { 0 }

let RUSAGE_CHILDREN: Int32 = -1
@discardableResult
func getrusage(_ who: Int32, _ usage: UnsafeMutablePointer<rusage>!) -> Int32 { 0 }

let RLIMIT_NOFILE: Int32 = 8
@discardableResult
func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>!) -> Int32 { 0 }
@discardableResult
func setrlimit(_ resource: Int32, _ limit: UnsafePointer<rlimit>!) -> Int32 { 0 }

/// `sys/fcntl.h`.
let F_GETPATH: Int32 = 50

// MARK: What Darwin doesn't have

@available(*, unavailable) let SOCK_CLOEXEC: Int32 = 0
@available(*, unavailable) let CLOCK_BOOTTIME: Int32 = 0
@available(*, unavailable)
func accept4(
    _ descriptor: Int32,
    _ address: UnsafeMutablePointer<sockaddr>?,
    _ length: UnsafeMutablePointer<socklen_t>?,
    _ flags: Int32
) -> Int32 { 0 }
@available(*, unavailable) func pipe2(_ descriptors: UnsafeMutablePointer<Int32>!, _ flags: Int32) -> Int32 { 0 }
