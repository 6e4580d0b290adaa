#!/usr/bin/env python3
"""Measures `substitute import` of a 100 MB HTTP Archive beside JSONSerialization on the same file.

    Benchmarks/Import/measure.py [--rounds 7] [--bytes 100000000]

Then it measures the import of 3,000 responses 440 folders deep beside writing the same files by hand.

Both run in turn, each as a separate process. The figures are the process's total time and its peak memory. The script makes the
archive in the form that Chrome writes: half of the bodies are pictures in base64, half are text. It needs Python and a Swift
toolchain. Exit status 1 if a limit is exceeded.
"""

import argparse
import base64
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_TIME = 2.0  # × JSONSerialization
MOST_MEMORY = 4.0  # × the file
MOST_DEEP_TIME = 2.0  # × by hand

WORDS = 'function return const element style {} the of "quoted" \n <div class="x"> </div> ümlaut \\d+ 100px'.split(" ")


def text(length):
    words = []
    while length > 0:
        words.append(random.choice(WORDS) + (" " if random.random() < 0.9 else "\n    "))
        length -= len(words[-1])
    return "".join(words)


def entry(number):
    headers = [{"name": f"x-header-{i}", "value": f"some value of a header {i}"} for i in range(12)]
    if number % 2:
        body = text(random.randint(1_000, 120_000))
        content = {"size": len(body), "mimeType": "text/css", "text": body}
    else:
        body = base64.b64encode(random.randbytes(random.randint(1_000, 180_000))).decode()
        content = {"size": len(body) * 3 // 4, "mimeType": "image/png", "text": body, "encoding": "base64"}
    extension = "css" if number % 2 else "png"
    url = f"https://cdn{number % 7}.example.com/assets/{number % 50}/file-{number}.{extension}?v={number}"
    frame = {"functionName": "f", "scriptId": "1", "url": "https://h/x.js", "lineNumber": 1, "columnNumber": 2}
    return {
        "_initiator": {"type": "script", "stack": {"callFrames": [frame] * 5}},
        "_priority": "High",
        "cache": {},
        "request": {
            "method": "GET", "url": url, "httpVersion": "h2", "headers": headers, "queryString": [], "cookies": [],
            "headersSize": -1, "bodySize": 0,
        },
        "response": {
            "status": 200, "statusText": "", "httpVersion": "h2", "cookies": [], "content": content, "bodySize": -1,
            "headers": headers + [{"name": "content-type", "value": content["mimeType"]}], "redirectURL": "",
        },
        "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 12.3, "timings": {"send": 1.2, "wait": 3, "receive": 4},
    }


def write_archive(path, size):
    random.seed(1)
    written = number = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write('{ "log": { "version": "1.2", "pages": [], "entries": [\n')
        while written < size:
            line = json.dumps(entry(number), indent=2, ensure_ascii=False)
            file.write((",\n" if number else "") + line)
            written += len(line.encode())
            number += 1
        file.write("\n]}}\n")
    return number


def run(words):
    """Runs a command. Returns its seconds and its peak memory in bytes."""
    start = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{words[0]} failed: {message.decode()}")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.monotonic() - start, usage.ru_maxrss * unit


def deep_names():
    return ["h.example/" + "a/" * 440 + f"file-{number}.txt" for number in range(3_000)]


def write_by_hand(output):
    """Writes files as a program would that is in their folder. Returns its seconds."""
    start = time.monotonic()
    os.makedirs(output)
    before = os.getcwd()
    os.chdir(output)
    for name in deep_names():
        temporary = name + ".part"
        try:
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(name))
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.write(file, name[-20:].encode())
        os.close(file)
        os.rename(temporary, name)
    os.chdir(before)
    return time.monotonic() - start


def measure_deep(substitute, folder, rounds):
    """Returns whether importing files in deep folders takes too long."""
    archive, output = os.path.join(folder, "deep.har"), os.path.join(folder, "deep")
    entries = [
        {
            "request": {"method": "GET", "url": "https://" + name, "headers": []},
            "response": {"status": 200, "headers": [], "content": {"mimeType": "text/plain", "text": name[-20:]}},
        }
        for name in deep_names()
    ]
    with open(archive, "w", encoding="utf-8") as file:
        json.dump({"log": {"version": "1.2", "entries": entries}}, file)
    seconds = []
    for _ in range(rounds):
        plain = write_by_hand(output)
        shutil.rmtree(output)
        taken = run([substitute, "import", archive, "--into", output])[0]
        shutil.rmtree(output)
        seconds.append((taken / plain, taken, plain))
    ratio, taken, plain = (statistics.median(column) for column in zip(*seconds))
    print(f"deep    {taken:.2f} s, by hand {plain:.2f} s: {ratio:.2f} ×, at most {MOST_DEEP_TIME:.0f} ×")
    return ratio > MOST_DEEP_TIME


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bytes", type=int, default=100_000_000)
    arguments = parser.parse_args()
    subprocess.run(["swift", "build", "-c", "release", "--product", "substitute"], cwd=ROOT, check=True, stdout=sys.stderr)
    binaries = subprocess.run(
        ["swift", "build", "-c", "release", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        yardstick, archive, output = (os.path.join(folder, name) for name in ("yardstick", "archive.har", "output"))
        source = str(pathlib.Path(__file__).with_name("Yardstick.swift"))
        subprocess.run(["swiftc", "-O", source, "-o", yardstick], check=True)
        count = write_archive(archive, arguments.bytes)
        size = os.path.getsize(archive)
        rounds = []
        for _ in range(arguments.rounds):
            plain = run([yardstick, archive])
            taken = run([os.path.join(binaries, "substitute"), "import", archive, "--into", output])
            rounds.append((taken[0] / plain[0], taken[0], plain[0], taken[1] / size, plain[1] / size))
            shutil.rmtree(output)
        is_deep_slow = measure_deep(os.path.join(binaries, "substitute"), folder, arguments.rounds)
    ratio, seconds, plain, memory, plain_memory = (statistics.median(column) for column in zip(*rounds))
    print(f"{count} responses, {size / 1e6:.0f} MB, {arguments.rounds} rounds, medians")
    print(f"time    {seconds:.2f} s, JSONSerialization {plain:.2f} s: {ratio:.2f} ×, at most {MOST_TIME:.0f} ×")
    print(f"memory  {memory:.2f} × the file, JSONSerialization {plain_memory:.2f} ×, at most {MOST_MEMORY:.0f} ×")
    sys.exit(is_deep_slow or ratio > MOST_TIME or memory > MOST_MEMORY)


main()
