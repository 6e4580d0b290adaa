#!/bin/bash
# Tries the package on a Mac, and writes what happened into one text file, to be attached to an issue.
#
#     Scripts/try-on-a-mac.sh [FILE]
#
# The file, ./try-on-a-mac.txt by default, has no user name, no name of the computer, and no path outside the package. All it needs is
# Xcode. A part that lacks its tool says “skipped”. On Linux, the parts that Linux has are run.
set -uo pipefail

report="$(pwd -P)/try-on-a-mac.txt"
if [[ $# -gt 0 ]]; then
    folder="$(cd "$(dirname "$1")" && pwd -P)" || exit 1
    report="$folder/$(basename "$1")"
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root="$(pwd -P)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Prints a value as a pattern that matches only it.
literal() { printf '%s' "$1" | LC_ALL=C sed -e 's/[][\.*^$|]/\\&/g'; }

# Prints text without what names the computer or its user.
clean() {
    local edits=() name
    edits+=(-e "s|$(literal "$root")|PACKAGE|g" -e "s|/private$(literal "$work")|WORK|g" -e "s|$(literal "$work")|WORK|g")
    edits+=(-e "s|$(literal "${HOME:-/nowhere}")|HOME|g" -e "s|$(literal "${TMPDIR:-/nowhere}")|TMPDIR/|g")
    edits+=(-e "s|file://[^ ]*/|file://…/|g")
    for name in "$(hostname)" "$(hostname -s)" "$(scutil --get ComputerName 2>/dev/null)" \
        "$(scutil --get LocalHostName 2>/dev/null)"; do
        if [[ -n "$name" && "$name" != localhost ]]; then edits+=(-e "s|$(literal "$name")|HOST|g"); fi
    done
    if [[ "$(id -un)" != root ]]; then edits+=(-e "s|$(literal "$(id -un)")|USER|g"); fi
    # Output may have bytes that aren't valid text in the user's language.
    LC_ALL=C sed "${edits[@]}"
}

# Runs a command for a part of the report. Shows the lines that a pattern selects, or else the last ones. If the command fails, its
# first errors come before them, since they may be far above. If a failed command has none of these lines, shows its last ones.
part() {
    local title="$1" pattern="$2" status
    shift 2
    printf '\n== %s\n' "$title"
    if ! command -v "$1" >/dev/null; then
        printf 'skipped: there is no %s\n' "$1"
        return
    fi
    "$@" >"$work/output" 2>&1
    status=$?
    {
        # Not the tests that have “error:” in their names.
        if ((status != 0)); then grep -aE "error:" "$work/output" | grep -avE "^(◇|✔)" | head -n 40; fi
        if [[ -z "$pattern" ]]; then tail -n 40 "$work/output"; else grep -aE "$pattern" "$work/output" | tail -n 200; fi
    } >"$work/shown"
    if ((status != 0)) && [[ ! -s "$work/shown" ]]; then tail -n 20 "$work/output" >"$work/shown"; fi
    # Each line once.
    LC_ALL=C awk '!NF || !shown[$0]++' "$work/shown" | clean
    printf 'status %s\n' "$status"
}

# Writes a package with two executables: one makes a cache of each class, and one installs a cache and asks whether sessions get
# local files.
write_apps() {
    mkdir -p "$work/App/Sources/App" "$work/App/Sources/Caches"
    cat >"$work/App/Package.swift" <<MANIFEST
// swift-tools-version: 6.1
import PackageDescription
let library = Target.Dependency.product(name: "LocalSubstitution", package: "LocalSubstitutionCache")
let package = Package(
    name: "App",
    platforms: [.macOS(.v12)],
    dependencies: [.package(name: "LocalSubstitutionCache", path: "$root")],
    targets: [
        .executableTarget(name: "App", dependencies: [library]),
        .executableTarget(name: "Caches", dependencies: [library]),
    ]
)
MANIFEST
    cat >"$work/App/Sources/Caches/main.swift" <<'SWIFT'
import Foundation
import LocalSubstitution
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// A wrong initializer of a URLCache would end the process here.
let cache = LocalSubstitutionCache(map: try SubstitutionMap(["https://www.example.com/a": .text("local")]))
guard let url = URL(string: "https://www.example.com/a") else { exit(1) }
print("LocalSubstitutionCache:", cache.cachedResponse(for: URLRequest(url: url))?.data.count ?? 0, "bytes")
try cache.install()
print("SharedSessionCache:", URLSession.shared.configuration.urlCache?.memoryCapacity ?? 0, "bytes of memory")
cache.uninstall()
SWIFT
    cat >"$work/App/Sources/App/main.swift" <<'SWIFT'
import Foundation
import LocalSubstitution
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let cache = LocalSubstitutionCache(map: try SubstitutionMap(["https://www.example.com/a": .text("local")]))
try cache.install()
print("URLSession.shared:", await cache.verify(.shared))
print("makeSession:", await cache.verify(try cache.makeSession()))
let configuration = URLSessionConfiguration.default
try cache.attach(to: configuration)
print("an attached session:", await cache.verify(URLSession(configuration: configuration)))
SWIFT
}

{
    printf 'LocalSubstitutionCache, tried on %s\n' "$(uname -sm)"
    part "macOS" "" sw_vers
    part "Xcode" "" xcodebuild -version
    part "Swift" "" swift --version
    write_apps
    part "a cache of each class, in a process of its own" "^(Local|Shared)|rror:|[Ff]atal" \
        swift run --package-path "$work/App" Caches
    part "the demo" "" swift run substitute demo
    # The same destinations as in .github/workflows/ci.yml.
    for destination in "iOS Simulator" "tvOS Simulator" "watchOS Simulator" "visionOS Simulator" "macOS,variant=Mac Catalyst"; do
        for scheme in LocalSubstitutionRecording LocalSubstitutionTesting LocalSubstitutionServer; do
            part "a build of $scheme for $destination" "error:|warning:|BUILD" \
                xcodebuild build -scheme "$scheme" -destination "generic/platform=$destination" \
                -derivedDataPath "$work/simulator"
        done
    done
    part "verify, in an app's process" "^(URLSession|makeSession|an attached)|error:" swift run --package-path "$work/App" App
    # Last, since a test may hang. After Control-C, the report has what comes before.
    part "the tests" "recorded an issue|failed after|^[^◇✔]*error:|Test run with" swift test
} | tee "$report"
printf '\nWritten to %s. Read it, and attach it to an issue.\n' "$report"
