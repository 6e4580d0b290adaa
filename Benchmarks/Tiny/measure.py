#!/usr/bin/env python3
"""Measures a tiny executable that links the library, beside one with a URLProtocol written by hand.

    Benchmarks/Tiny/measure.py [--builds 5] [--starts 101]

The figures are the time of a clean build, debug and release; the size that the library adds to the stripped executable; and the
time from the process's start to its first answer, with 10 entries. Both executables are built and run in turn, and each figure is
a median. It needs Python and a Swift toolchain. A clean build uses all processors, so run nothing else meanwhile.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("Hand", "Library")
MANIFEST = """// swift-tools-version: 6.1
import PackageDescription
let package = Package(
    name: "Tiny",
    platforms: [.macOS(.v12)],
    dependencies: [%s],
    targets: [.executableTarget(name: "Tiny", dependencies: [%s])],
    swiftLanguageModes: [.v6]
)
"""
DEPENDENCY = f'.package(name: "LocalSubstitutionCache", path: {json.dumps(str(ROOT))})'
PRODUCT = '.product(name: "LocalSubstitution", package: "LocalSubstitutionCache")'


def make(folder, name):
    """Makes a package with one of the two sources."""
    sources = folder / name / "Sources" / "Tiny"
    sources.mkdir(parents=True)
    shutil.copy(pathlib.Path(__file__).with_name(f"{name}.swift"), sources)
    links = name == "Library"
    manifest = MANIFEST % (DEPENDENCY if links else "", PRODUCT if links else "")
    (folder / name / "Package.swift").write_text(manifest)


def build(folder, name, mode):
    """Builds a package from scratch. Returns the seconds, and the stripped executable's path."""
    shutil.rmtree(folder / name / ".build", ignore_errors=True)
    # Reading the manifests isn't part of the build.
    subprocess.run(["swift", "package", "resolve"], cwd=folder / name, check=True, capture_output=True)
    start = time.monotonic()
    subprocess.run(["swift", "build", "-c", mode], cwd=folder / name, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    program = folder / f"{name}-{mode}"
    shutil.copy(folder / name / ".build" / mode / "Tiny", program)
    subprocess.run(["strip", program], check=True)
    return seconds, program


def start(program, folder):
    """Returns the seconds from a process's start to its first line of output."""
    before = time.monotonic()
    with subprocess.Popen([program, folder], stdout=subprocess.PIPE) as process:
        answer = process.stdout.readline()
        seconds = time.monotonic() - before
    if answer != b'{"number":3}\n':
        sys.exit(f"{program} answered {answer}")
    return seconds


def row(name, library, hand, most, unit):
    """Prints medians, and the median of each round's ratio. Returns whether it's over the target."""
    ratio = statistics.median(a / b for a, b in zip(library, hand))
    over = most is not None and ratio > most
    target = f"{f'≤ {most}' if most else '':6}  {'over' if over else ''}"
    print(f"{name:24} {statistics.median(library):9.1f} {unit:3} {statistics.median(hand):9.1f} {unit:3} {ratio:6.2f} × {target}")
    return over


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--builds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=101)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site = folder / "site"
        (site / "Resources").mkdir(parents=True)
        for number in range(10):
            (site / "Resources" / f"{number}.json").write_text('{"number":%d}' % number)
        keys = {f"https://api.example.com/{number}": f"{number}.json" for number in range(10)}
        (site / "substitutions.json").write_text(json.dumps(keys))
        for name in NAMES:
            make(folder, name)

        over = False
        for mode in ("debug", "release"):
            rounds = [[build(folder, name, mode) for name in NAMES] for _ in range(arguments.builds)]
            hand, library = ([seconds for seconds, _ in column] for column in zip(*rounds))
            # No target: on the machine that first ran this, by hand took half of 16 s (debug) and a third of 38 s (release).
            row(f"clean build, {mode}", library, hand, None, "s")
        sizes = [os.path.getsize(folder / f"{name}-release") for name in NAMES]
        added = (sizes[1] - sizes[0]) / 1e6
        over |= added > 0.9
        print(f"{'what the library adds':24} {added:9.2f} MB, at most 0.9")

        rounds = [[start(folder / f"{name}-release", site) * 1e3 for name in NAMES] for _ in range(arguments.starts)]
        hand, library = zip(*rounds[1:])
        over |= row("start to first answer", library, hand, 1.1, "ms")
        sys.exit(over)


main()
