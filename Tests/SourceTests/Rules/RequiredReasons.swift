#if os(Linux)
/// Apple's list of APIs that need a reason in a privacy manifest: “Describing use of required reason API” in its documentation of
/// bundle resources. The category of active keyboards belongs only to UIKit.
struct RequiredReasons: Sendable {
    /// The value of `NSPrivacyAccessedAPIType`.
    let category: String
    let functions: [String]
    /// The APIs as Swift spells them. Those that Linux's Foundation doesn't have aren't here, since calls to them don't compile
    /// there.
    let symbols: [String]

    static let all = [
        RequiredReasons(
            category: "NSPrivacyAccessedAPICategoryFileTimestamp",
            functions: [
                "stat", "fstat", "fstatat", "lstat", "getattrlist", "fgetattrlist", "getattrlistat", "getattrlistbulk",
            ],
            symbols: [
                "FileAttributeKey.creationDate", "FileAttributeKey.modificationDate",
                "URLResourceKey.creationDateKey", "URLResourceKey.contentModificationDateKey",
                "URLResourceValues.creationDate", "URLResourceValues.contentModificationDate",
            ]
        ),
        RequiredReasons(
            category: "NSPrivacyAccessedAPICategorySystemBootTime",
            functions: ["mach_absolute_time"],
            symbols: ["ProcessInfo.systemUptime"]
        ),
        RequiredReasons(
            category: "NSPrivacyAccessedAPICategoryDiskSpace",
            functions: [
                "statfs", "fstatfs", "statvfs", "fstatvfs", "getattrlist", "fgetattrlist", "getattrlistat",
            ],
            symbols: [
                "FileAttributeKey.systemFreeSize", "FileAttributeKey.systemSize",
                "URLResourceKey.volumeAvailableCapacityKey", "URLResourceKey.volumeTotalCapacityKey",
                "URLResourceValues.volumeAvailableCapacity", "URLResourceValues.volumeTotalCapacity",
            ]
        ),
        RequiredReasons(
            category: "NSPrivacyAccessedAPICategoryUserDefaults",
            functions: [],
            symbols: ["UserDefaults"]
        ),
    ]
}
#endif
