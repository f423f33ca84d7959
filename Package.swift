// swift-tools-version: 6.2
import PackageDescription

// The map of Perch, in layer order: a target may import what stands above it here, and only what it names.
// `make lint` builds with --explicit-target-dependency-import-check error, so that this file cannot lie.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func swift(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "perch",
    products: [],
    targets: [
        // Small values that all share.
        swift("PerchBase", []),

        // What each target promises; sockets and files only where the name says so.
        tests("PerchBaseTests", ["PerchBase"]),
    ]
)
