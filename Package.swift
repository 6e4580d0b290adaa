// swift-tools-version: 6.1

import PackageDescription

// Xcode looks for this file in the resource bundle. Linux needs neither the file nor a bundle.
let privacyManifest = "PrivacyInfo.xcprivacy"
#if os(macOS)
let library = Target.target(
    name: "LocalSubstitution",
    dependencies: ["Guarded", "HTTPSyntax"],
    resources: [.copy(privacyManifest)]
)
#else
let library = Target.target(
    name: "LocalSubstitution",
    dependencies: ["Guarded", "HTTPSyntax"],
    exclude: [privacyManifest]
)
#endif

let package = Package(
    name: "LocalSubstitutionCache",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .library(name: "LocalSubstitution", targets: ["LocalSubstitution"]),
        .library(name: "LocalSubstitutionRecording", targets: ["LocalSubstitutionRecording"]),
        .library(name: "LocalSubstitutionTesting", targets: ["LocalSubstitutionTesting"]),
        .library(name: "LocalSubstitutionServer", targets: ["LocalSubstitutionServer"]),
        .executable(name: "substitute", targets: ["substitute"]),
        .plugin(name: "SubstitutePlugin", targets: ["SubstitutePlugin", "SubstituteEditPlugin"]),
    ],
    dependencies: [],
    targets: [
        .target(name: "Guarded"),
        .target(name: "HTTPSyntax"),
        library,
        .target(name: "MapWriting", dependencies: ["HTTPSyntax", "LocalSubstitution"]),
        .target(
            name: "LocalSubstitutionRecording",
            dependencies: ["Guarded", "HTTPSyntax", "LocalSubstitution", "MapWriting"]
        ),
        .target(name: "MapTools", dependencies: ["HTTPSyntax", "LocalSubstitution", "MapWriting"]),
        .target(
            name: "LocalSubstitutionTesting",
            dependencies: ["Guarded", "HTTPSyntax", "LocalSubstitution", "MapTools", "MapWriting"]
        ),
        .target(name: "WebReferences", dependencies: ["HTTPSyntax", "LocalSubstitution"]),
        .target(name: "Loopback", dependencies: ["Guarded", "HTTPSyntax"]),
        .target(
            name: "LocalSubstitutionServer",
            dependencies: [
                "Guarded", "HTTPSyntax", "LocalSubstitution", "LocalSubstitutionRecording", "Loopback", "WebReferences",
            ]
        ),
        .executableTarget(
            name: "substitute",
            dependencies: [
                "Guarded", "HTTPSyntax", "LocalSubstitution", "LocalSubstitutionRecording", "LocalSubstitutionServer",
                "Loopback", "MapTools", "MapWriting", "WebReferences",
            ],
            resources: [
                .copy("../../Resources"), .copy("../../substitutions.json"), .copy("Demo/Origin"),
                .copy("Demo/SideBySide.html"),
            ]
        ),
        .plugin(
            name: "SubstitutePlugin",
            capability: .command(
                intent: .custom(verb: "substitute", description: "Checks and explains maps of URLs to local files")
            ),
            dependencies: ["substitute"]
        ),
        .plugin(
            name: "SubstituteEditPlugin",
            capability: .command(
                intent: .custom(
                    verb: "substitute-edit",
                    description: "Makes and changes maps of URLs to local files, and loads URLs"
                ),
                permissions: [
                    .writeToPackageDirectory(reason: "to write the map and its files"),
                    .allowNetworkConnections(scope: .all(), reason: "to load the URLs that a command needs"),
                ]
            ),
            dependencies: ["substitute"]
        ),
        .target(name: "LoopbackOrigin", dependencies: ["Guarded", "Loopback"], path: "Tests/LoopbackOrigin"),
        .target(name: "SchemaValidator", dependencies: ["TestSupport"], path: "Tests/SchemaValidator"),
        .target(name: "TestSupport", dependencies: ["Guarded", "Loopback"], path: "Tests/TestSupport"),
        .testTarget(
            name: "LocalSubstitutionTests",
            dependencies: [
                "Guarded", "HTTPSyntax", "LocalSubstitution", "LocalSubstitutionRecording", "LoopbackOrigin",
                "MapTools",
                "MapWriting", "SchemaValidator", "TestSupport",
            ]
        ),
        .testTarget(
            name: "LocalSubstitutionTestingTests",
            dependencies: [
                "Guarded", "LocalSubstitution", "LocalSubstitutionServer", "LocalSubstitutionTesting", "LoopbackOrigin",
                "TestSupport",
            ],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "MapToolsTests",
            dependencies: [
                "HTTPSyntax", "LocalSubstitution", "LocalSubstitutionRecording", "MapTools", "MapWriting",
                "TestSupport",
            ]
        ),
        .testTarget(name: "HTTPSyntaxTests", dependencies: ["HTTPSyntax", "TestSupport"]),
        .testTarget(name: "LoopbackTests", dependencies: ["Guarded", "Loopback", "TestSupport"]),
        .testTarget(name: "LoopbackOriginTests", dependencies: ["Guarded", "LoopbackOrigin", "TestSupport"]),
        .testTarget(name: "WebReferencesTests", dependencies: ["LocalSubstitution", "TestSupport", "WebReferences"]),
        .testTarget(
            name: "LocalSubstitutionServerTests",
            dependencies: [
                "Guarded", "LocalSubstitution", "LocalSubstitutionRecording", "LocalSubstitutionServer", "Loopback",
                "LoopbackOrigin", "TestSupport",
            ]
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "LocalSubstitution", "LocalSubstitutionRecording", "LocalSubstitutionServer",
                "LocalSubstitutionTesting", "LoopbackOrigin", "MapTools", "MapWriting", "SchemaValidator",
                "TestSupport",
                "substitute",
            ],
            exclude: ["Fixtures"]
        ),
        .testTarget(name: "SourceTests", dependencies: ["TestSupport"], exclude: ["Apple"]),
        .testTarget(
            name: "SubstituteTests",
            dependencies: [
                "Guarded", "LocalSubstitution", "LocalSubstitutionRecording", "LoopbackOrigin", "MapTools",
                "SchemaValidator", "TestSupport", "substitute",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The targets with suites that ThreadSanitizer runs: see SuiteKind. The others would double the time of its build.
let threaded = [
    "LocalSubstitutionTests", "LocalSubstitutionTestingTests", "LocalSubstitutionServerTests", "LoopbackTests",
]
if Context.environment["LOCAL_SUBSTITUTION_TESTS"] == "threads" {
    package.targets.removeAll { $0.type == .test && !threaded.contains($0.name) }
}

// Plugins have no settings.
for target in package.targets where target.type != .plugin {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // For `.ci/run`, whose steps share one build. Off by default, since SwiftPM refuses unsafe flags in a dependency.
    if Context.environment["LOCAL_SUBSTITUTION_WARNINGS_AS_ERRORS"] == "1" {
        target.swiftSettings?.append(.unsafeFlags(["-warnings-as-errors"]))
    }
}
