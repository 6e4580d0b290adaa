#!/usr/bin/env python3
"""Measures a tiny executable that links the library, beside one with a URLProtocol written by hand.

    Benchmarks/Tiny/measure.py [--builds 5] [--starts 101]

The figures are the processor time of a clean build, debug and release; what each product that apps link adds to the stripped
executable; and the time from the process's start to its first answer, with 10 entries. The executables are built and run in turn,
and each figure of time is a median. It needs Python and a Swift toolchain. A build uses two processors, so run nothing else
meanwhile.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The products that each executable links.
PRODUCTS = {
    "Hand": [],
    "Library": ["LocalSubstitution"],
    "Recording": ["LocalSubstitution", "LocalSubstitutionRecording"],
    "Server": ["LocalSubstitution", "LocalSubstitutionServer"],
}
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


def make(folder, name):
    """Makes a package of an executable."""
    sources = folder / name / "Sources" / "Tiny"
    sources.mkdir(parents=True)
    products = PRODUCTS[name]
    # SwiftPM links a product whole, whatever the executable uses of it.
    shutil.copy(pathlib.Path(__file__).with_name("Library.swift" if products else "Hand.swift"), sources)
    links = [f'.product(name: "{product}", package: "LocalSubstitutionCache")' for product in products]
    (folder / name / "Package.swift").write_text(MANIFEST % (DEPENDENCY if products else "", ", ".join(links)))


def build(folder, name, mode):
    """Builds a package from scratch. Returns the processor time of all its processes, in seconds, and the stripped executable's size."""
    shutil.rmtree(folder / name / ".build", ignore_errors=True)
    # Reading the manifests isn't part of the build.
    subprocess.run(["swift", "package", "resolve"], cwd=folder / name, check=True, capture_output=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = ["swift", "build", "-j", "2", "-c", mode]
    subprocess.run(command, cwd=folder / name, check=True, stdout=subprocess.DEVNULL)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    program = folder / f"{name}-{mode}"
    shutil.copy(folder / name / ".build" / mode / "Tiny", program)
    subprocess.run(["strip", program], check=True)
    return seconds, os.path.getsize(program)


def start(program, folder):
    """Returns the seconds from a process's start to its first line of output."""
    before = time.monotonic()
    with subprocess.Popen([program, folder], stdout=subprocess.PIPE) as process:
        answer = process.stdout.readline()
        seconds = time.monotonic() - before
    if answer != b'{"number":3}\n':
        sys.exit(f"{program} answered {answer}")
    return seconds


def row(name, figure, unit, most, note=""):
    """Prints a figure beside its target. Returns whether it's over."""
    over = most is not None and figure > most
    target = f"≤ {most}" if most is not None else ""
    print(f"{name:24} {figure:9.2f} {unit:3} {target:7} {'over' if over else '':5} {note}".rstrip())
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
        for name in PRODUCTS:
            make(folder, name)

        over = False
        for mode, most in (("debug", 14), ("release", 34)):
            rounds = [[build(folder, name, mode)[0] for name in ("Hand", "Library")] for _ in range(arguments.builds)]
            hand, library = (statistics.median(column) for column in zip(*rounds))
            over |= row(f"clean build, {mode}", library, "s", most, f"by hand {hand:.1f} s")
        sizes = {name: build(folder, name, "release")[1] / 1e6 for name in PRODUCTS}
        over |= row("LocalSubstitution adds", sizes["Library"] - sizes["Hand"], "MB", 1.5)
        row("…Recording, to that", sizes["Recording"] - sizes["Library"], "MB", None)
        # The server links the recorder.
        row("…Server, to that", sizes["Server"] - sizes["Recording"], "MB", None)

        programs = [folder / f"{name}-release" for name in ("Hand", "Library")]
        rounds = [[start(program, site) * 1e3 for program in programs] for _ in range(arguments.starts)][1:]
        hand = statistics.median(a for a, _ in rounds)
        ratio = statistics.median(b / a for a, b in rounds)
        over |= row("start to first answer", ratio, "×", 1.1, f"by hand {hand:.1f} ms")
        sys.exit(over)


main()
