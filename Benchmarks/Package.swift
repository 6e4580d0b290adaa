// swift-tools-version: 6.1

import PackageDescription

// A separate package, so that the root package has no dependencies. Benchmarks are in folders beside this file, since the plugin
// looks for them in a folder named “Benchmarks”.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "LocalSubstitutionCache", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "Allocated", path: "Allocated"),
        .target(
            name: "Workloads",
            dependencies: [
                .product(name: "LocalSubstitution", package: "LocalSubstitutionCache"),
                .product(name: "LocalSubstitutionRecording", package: "LocalSubstitutionCache"),
                .product(name: "LocalSubstitutionServer", package: "LocalSubstitutionCache"),
                .product(name: "LocalSubstitutionTesting", package: "LocalSubstitutionCache"),
                .target(name: "Allocated"),
            ],
            path: "Workloads"
        ),
        .executableTarget(
            name: "Substitution",
            dependencies: [.product(name: "Benchmark", package: "benchmark"), "Workloads"],
            path: "Substitution",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        .executableTarget(name: "ratios", dependencies: ["Workloads"], path: "Ratios"),
        .executableTarget(
            name: "resident",
            dependencies: [.product(name: "LocalSubstitution", package: "LocalSubstitutionCache"), "Workloads"],
            path: "Resident"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.name != "Allocated" {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}

// Only for the comparison with Mocker, since no other figure needs it.
if Context.environment["COMPARE_WITH_MOCKER"] != nil {
    package.dependencies.append(.package(url: "https://github.com/WeTransfer/Mocker", exact: "3.0.2"))
    for target in package.targets where target.name == "Workloads" {
        target.dependencies.append(.product(name: "Mocker", package: "Mocker"))
        target.swiftSettings?.append(.define("COMPARE_WITH_MOCKER"))
    }
}
