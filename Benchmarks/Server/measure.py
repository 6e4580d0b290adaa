#!/usr/bin/env python3
"""Measures `substitute serve` beside nginx with the same files, on this machine.

    Benchmarks/Server/measure.py [--rounds 5] [--seconds 5] [--loads 11]

Counts the requests for a 10 kB file that each answers per second, on 16 and on
64 connections that stay open, and times how long headless Chromium takes to load
a page of 200 parts. They take turns, and each figure is a median. The script needs
nginx, wrk and Chromium (Debian: apt-get install nginx-light wrk chromium), and
a Swift toolchain. Don't run anything else meanwhile. Exit status: 1 if a limit is
exceeded, 69 if a program is missing.
"""

import argparse
import json
import pathlib
import random
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Scripts"))
import chromium  # noqa: E402

ORIGIN = "http://site.invalid"
IMAGES, STYLES, SCRIPTS = 150, 30, 20
LEAST_RATE = 0.5  # × nginx
MOST_TIME = 1.5  # × nginx

CONFIGURATION = """
worker_processes auto;
daemon off;
pid %(folder)s/nginx.pid;
error_log %(folder)s/nginx-errors.log;
events { worker_connections 1024; }
http {
    types { text/html html; text/css css; text/javascript js; image/png png; application/octet-stream bin; }
    access_log %(folder)s/nginx-access.log;
    client_body_temp_path %(folder)s/nginx-body;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    server { listen 127.0.0.1:%(port)d; root %(folder)s/Resources; }
}
"""


def png(color):
    """Returns a picture of 16 × 16 pixels in one color."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(color) * 16) * 16
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make(folder):
    """Makes the files, and a map of them."""
    numbers = random.Random(1)
    files = {"file.bin": numbers.randbytes(10_240)}
    for number in range(IMAGES):
        files[f"image-{number}.png"] = png(numbers.randbytes(3))
    for number in range(STYLES):
        rules = "".join(f".c{number}-{rule} {{ margin: {rule}px; color: #{rule:03} }}\n" for rule in range(40))
        files[f"style-{number}.css"] = rules.encode()
    for number in range(SCRIPTS):
        files[f"script-{number}.js"] = f"window.ran = (window.ran ?? 0) + 1;\n{f'// script {number}' * 100}\n".encode()
    head = "".join(f'<link rel="stylesheet" href="style-{number}.css">\n' for number in range(STYLES))
    body = "".join(f'<img src="image-{number}.png" alt="">\n' for number in range(IMAGES))
    body += "".join(f'<script src="script-{number}.js"></script>\n' for number in range(SCRIPTS))
    # Without the icon Chromium would request /favicon.ico.
    page = f'<!doctype html>\n<title>200 parts</title>\n<link rel="icon" href="data:,">\n{head}<body>\n{body}</body>\n'
    files["page.html"] = page.encode()
    (folder / "Resources").mkdir()
    for name, data in files.items():
        (folder / "Resources" / name).write_bytes(data)
    entries = {f"{ORIGIN}/{name}": name for name in files}
    (folder / "substitutions.json").write_text(json.dumps(entries))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start_nginx(folder):
    # nginx can't choose a free port and report it.
    port = free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(CONFIGURATION % {"folder": folder, "port": port})
    with open(folder / "nginx.log", "wb") as log:
        process = subprocess.Popen(["nginx", "-c", configuration], stdout=log, stderr=log)
    for _ in range(100):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return process, f"http://127.0.0.1:{port}"
        time.sleep(0.1)
    process.terminate()
    sys.exit((folder / "nginx.log").read_text())


def start_serve(program, folder):
    log = folder / "serve.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [program, "serve", "--map", folder / "substitutions.json", "--origin", ORIGIN, "--offline"],
            stdout=output, stderr=output)
    for _ in range(100):
        if base := re.search(r"http://127\.0\.0\.1:\d+", log.read_text()):
            return process, base[0]
        time.sleep(0.1)
    process.terminate()
    sys.exit(log.read_text())


def rate(base, connections, seconds):
    """Returns the requests per second."""
    output = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", f"{base}/file.bin"], check=True, capture_output=True, text=True
    ).stdout
    # wrk prints these lines only if there is something to count.
    if re.search("Socket errors|Non-2xx", output):
        sys.exit(f"{base} answered with errors:\n{output}")
    return float(re.search(r"Requests/sec:\s*([\d.]+)", output)[1])


def load(browser, base):
    """Returns the milliseconds from navigation to the end of the load event, by the page's clock and by this process's."""
    with browser.open() as page:
        start = time.monotonic()
        page.load(f"{base}/page.html")
        wall = (time.monotonic() - start) * 1000
        inside = page.run("performance.getEntriesByType('navigation')[0].loadEventEnd")
        broken = page.run("[...document.images].filter(image => image.naturalWidth !== 16).length")
        ran = page.run("window.ran")
        if page.problems or broken or ran != SCRIPTS:
            sys.exit(f"{base} loaded with {broken} broken pictures and {ran} scripts: {page.problems}")
        return inside, wall


def in_turn(rounds, sides, measure):
    """Measures the sides in turn and returns the figures of each. Every second round runs backwards."""
    figures = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides)[::-1 if number % 2 else 1]:
            figures[name].append(measure(sides[name]))
    return figures


def row(name, unit, serve, nginx, least=None, most=None):
    """Prints medians, and the median of each round's ratio. Returns whether a limit is exceeded."""
    ratio = statistics.median(a / b for a, b in zip(serve, nginx))
    is_over = (least is not None and ratio < least) or (most is not None and ratio > most)
    limit = f"≥ {least}" if least is not None else f"≤ {most}" if most is not None else ""
    print(f"{name:34} {statistics.median(serve):9.0f} {unit:3} {statistics.median(nginx):9.0f} {unit:3} {ratio:6.2f} ×"
          f"  {limit:6} {'missed' if is_over else ''}", flush=True)
    return is_over


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="of wrk; default: 5")
    parser.add_argument("--seconds", type=int, default=5, help="of each run of wrk; default: 5")
    parser.add_argument("--loads", type=int, default=11, help="of the page; default: 11")
    parser.add_argument("--program", type=pathlib.Path, metavar="FILE", help="a substitute that is built already")
    arguments = parser.parse_args()
    missing = [name for name in ("nginx", "wrk") if not shutil.which(name)]
    if not chromium.executable():
        missing.append("chromium")
    if missing:
        print(f"not installed: {' '.join(missing)}; nothing was measured", file=sys.stderr)
        return 69
    program = arguments.program
    if not program:
        build = ["swift", "build", "--package-path", ROOT, "-c", "release"]
        subprocess.run([*build, "--product", "substitute"], check=True)
        path = subprocess.run([*build, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
        program = pathlib.Path(path) / "substitute"
    is_over = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        # nginx's workers run as another user.
        folder.chmod(0o755)
        make(folder)
        nginx, nginx_base = start_nginx(folder)
        serve, serve_base = start_serve(program, folder)
        try:
            sides = {"serve": serve_base, "nginx": nginx_base}
            print(f"{'':34} {'serve':>13} {'nginx':>13}")
            for connections in (16, 64):
                rates = in_turn(arguments.rounds, sides, lambda base: rate(base, connections, arguments.seconds))
                is_over |= row(f"10 kB, {connections} connections", "/s", rates["serve"], rates["nginx"], least=LEAST_RATE)
            with chromium.Chromium() as browser:
                for base in sides.values():
                    load(browser, base)
                loads = in_turn(arguments.loads, sides, lambda base: load(browser, base))
            for index, clock in enumerate(("the page's clock", "from outside")):
                times = {name: [one[index] for one in loads[name]] for name in sides}
                is_over |= row(f"page of 200 parts, {clock}", "ms", times["serve"], times["nginx"], most=MOST_TIME)
        finally:
            for process in (serve, nginx):
                process.terminate()
                process.wait()
    return 1 if is_over else 0


if __name__ == "__main__":
    sys.exit(main())
