// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "LocalSubstitutionCache",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "LocalSubstitution", targets: ["LocalSubstitution"]),
        .executable(name: "substitute", targets: ["substitute"]),
        .plugin(name: "SubstitutePlugin", targets: ["SubstitutePlugin", "SubstituteEditPlugin"]),
    ],
    dependencies: [],
    targets: [
        .target(name: "Guarded"),
        .target(name: "LocalSubstitution", dependencies: ["Guarded"]),
        .target(name: "LoopbackOrigin", dependencies: ["Guarded"]),
        .executableTarget(
            name: "substitute",
            dependencies: ["LocalSubstitution", "LoopbackOrigin", "Guarded"],
            resources: [
                .copy("../../Resources"), .copy("../../substitutions.json"), .copy("Demo/Origin"),
                .copy("Demo/SideBySide.html"), .embedInCode("../../substitutions.schema.json"),
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
                    .writeToPackageDirectory(reason: "to write the map and its files, where a command does"),
                    .allowNetworkConnections(scope: .all(), reason: "to load what a command is to load"),
                ]
            ),
            dependencies: ["substitute"]
        ),
        .target(name: "SchemaValidator", path: "Tests/SchemaValidator"),
        .testTarget(
            name: "LocalSubstitutionTests",
            dependencies: ["Guarded", "LocalSubstitution", "LoopbackOrigin", "SchemaValidator"]
        ),
        .testTarget(name: "LoopbackOriginTests", dependencies: ["LoopbackOrigin"]),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["LocalSubstitution", "LoopbackOrigin", "SchemaValidator", "substitute"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "SubstituteTests",
            dependencies: ["Guarded", "LocalSubstitution", "LoopbackOrigin", "SchemaValidator", "substitute"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// A plugin takes no settings.
for target in package.targets where target.type != .plugin {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // For `.ci/run`, whose steps share one build. Not for those who depend on this package: it would be refused there.
    if Context.environment["LOCAL_SUBSTITUTION_WARNINGS_AS_ERRORS"] == "1" {
        target.swiftSettings?.append(.unsafeFlags(["-warnings-as-errors"]))
    }
}
