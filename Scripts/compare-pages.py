#!/usr/bin/env python3
"""Compares pages with their originals, pixel by pixel, in headless Chromium.

Takes pictures of each pair of URLs in a desktop and a phone window, each page
in full, and prints “same” or how many pixels differ, and where. Lists what the
browser reported on either side: failed requests, exceptions, and errors in the
console. Keeps the pictures, and one of the differences, in a folder.
"""

import argparse
import base64
import pathlib
import sys
import time

import chromium

WINDOWS = {"desktop": (1280, 800, False), "phone": (390, 844, True)}
NOTHING_REMOTE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
TRIES = 3
SIDES = ("original", "local")
NOTES = """
Originals may be anywhere. The browser that shows local pages resolves only
localhost, so nothing there is loaded from the original.

A picture is taken when the page and its fonts have loaded, no request has been
running for half a second, animations are at their ends, videos are at their
starts, and two pictures in a row are equal. Random numbers are the same on both
sides. Some pages differ from one load to the next, so pages that differ are
loaded again, up to three times. “At attempt 2” means that the second was equal.

To show an original under its own name from a server on this machine:
  --flag='--host-resolver-rules=MAP www.example.com 127.0.0.1:8443'
  --flag=--ignore-certificate-errors

Exit status: 0 all are the same, 1 one differs, 69 there is no Chromium.
"""

# The Park–Miller generator.
RANDOM = """{
    let state = 1
    Math.random = () => (state = state * 48271 % 2147483647) / 2147483647
}"""

# Scrolls through the page to load lazy parts, and stops everything that moves.
REST = """(async () => {
    const step = innerHeight
    for (let y = 0; y < document.documentElement.scrollHeight; y += step) {
        scrollTo({ top: y, behavior: "instant" })
        await new Promise(done => setTimeout(done, 50))
    }
    scrollTo({ top: 0, behavior: "instant" })
    const documents = [document]
    for (const frame of document.querySelectorAll("iframe, frame")) {
        if (frame.contentDocument) documents.push(frame.contentDocument)
    }
    for (const one of documents) {
        await one.fonts.ready
        for (const video of one.querySelectorAll("video, audio")) {
            video.pause()
            // They show how much has been buffered.
            if (video.matches("video")) video.controls = false
            if (video.readyState > 0) video.currentTime = 0
        }
        for (const animation of one.getAnimations()) {
            try { animation.finish() } catch { animation.cancel() }
        }
        one.activeElement?.blur?.()
    }
})()"""

# Compares two pictures. In the third one, equal pixels are pale and different ones are red.
COMPARE = """(async (first, second) => {
    const read = async data => {
        const image = new Image()
        image.src = "data:image/png;base64," + data
        await image.decode()
        return image
    }
    const images = [await read(first), await read(second)]
    const width = Math.max(...images.map(image => image.width))
    const height = Math.max(...images.map(image => image.height))
    const canvases = images.map(image => {
        const canvas = document.createElement("canvas")
        Object.assign(canvas, { width, height })
        const context = canvas.getContext("2d", { willReadFrequently: true })
        context.drawImage(image, 0, 0)
        return { canvas, context, pixels: context.getImageData(0, 0, width, height) }
    })
    const [a, b] = canvases.map(one => one.pixels.data)
    let count = 0, left = width, top = height, right = -1, bottom = -1
    for (let i = 0; i < a.length; i += 4) {
        if (a[i] === b[i] && a[i + 1] === b[i + 1] && a[i + 2] === b[i + 2] && a[i + 3] === b[i + 3]) {
            for (let k = i; k < i + 3; k++) a[k] = 224 + (a[k] >> 3)
            continue
        }
        const x = (i / 4) % width, y = Math.floor(i / 4 / width)
        count++
        left = Math.min(left, x)
        right = Math.max(right, x)
        top = Math.min(top, y)
        bottom = Math.max(bottom, y)
        a.set([255, 0, 0, 255], i)
    }
    canvases[0].context.putImageData(canvases[0].pixels, 0, 0)
    return {
        count, box: [left, top, right, bottom], sizes: images.map(image => [image.width, image.height]),
        picture: canvases[0].canvas.toDataURL("image/png").split(",")[1],
    }
})"""


def picture(browser, url, window, script, timeout):
    """Returns a picture of a whole page, as Base64, and the problems that occurred."""
    width, height, is_phone = window
    with browser.open() as page:
        page.command("Emulation.setDeviceMetricsOverride",
                     width=width, height=height, deviceScaleFactor=1, mobile=is_phone)
        page.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        page.command("Page.addScriptToEvaluateOnNewDocument", source=RANDOM)
        page.load(url, timeout)
        problems = [] if page.settle(timeout=timeout) else ["requests were still under way: "
                                                            + ", ".join(page.loading.values())]
        if script:
            page.run(script)
            page.settle(timeout=timeout)
        page.run(REST)
        page.settle(timeout=timeout)
        size = page.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        last, end = None, time.monotonic() + timeout
        while True:
            data = page.command("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
            if data == last:
                break
            if time.monotonic() > end:
                problems.append("the page never came to rest")
                break
            last = data
            time.sleep(0.3)
        return data, list(dict.fromkeys(page.problems + problems))


def compare(browser, first, second):
    """Returns what differs between two pictures, or None."""
    if first == second:
        return None
    with browser.open() as page:
        difference = page.run(f'{COMPARE}("{first}", "{second}")')
    return difference if difference["count"] else None


def report(pair, browsers, window, files, script, timeout):
    """Compares a pair in one window, and prints what it finds. Returns whether they are the same."""
    for attempt in range(1, TRIES + 1):
        pictures, complaints = [], []
        for side, browser, url in zip(SIDES, browsers, pair):
            try:
                data, problems = picture(browser, url, WINDOWS[window], script, timeout)
                files[side].write_bytes(base64.b64decode(data))
            except chromium.Failure as failure:
                data, problems = None, [str(failure)]
            pictures.append(data)
            complaints.append(problems)
        difference = compare(browsers[1], *pictures) if all(pictures) else None
        is_same = all(pictures) and not difference
        if is_same:
            break
    if not all(pictures):
        result = "not compared"
    elif difference:
        files["difference"].write_bytes(base64.b64decode(difference["picture"]))
        left, top, right, bottom = difference["box"]
        sizes = " and ".join(sorted({"{} × {}".format(*size) for size in difference["sizes"]}))
        result = f"{difference['count']} pixels differ, from ({left}, {top}) to ({right}, {bottom}); {sizes}"
    else:
        files["difference"].unlink(missing_ok=True)
        result = "same" if attempt == 1 else f"same, at attempt {attempt}"
    print(f"   {window:8} {result}")
    for problem in dict.fromkeys(complaints[0] + complaints[1]):
        sides = [side for side, problems in zip(SIDES, complaints) if problem in problems]
        print(f"            {'both' if len(sides) == 2 else sides[0]}: {problem}", flush=True)
    return is_same


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=NOTES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urls", nargs="+", metavar="ORIGINAL LOCAL", help="pairs of URLs")
    parser.add_argument("--into", type=pathlib.Path, default=pathlib.Path("compared-pages"), metavar="DIR",
                        help="where pictures go; default: compared-pages")
    parser.add_argument("--run", metavar="SCRIPT", help="JavaScript to run in each page once it has loaded")
    parser.add_argument("--flag", action="append", default=[], help="a flag for the Chromium that shows originals; may be repeated")
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS", help="the limit for each wait; default: 30")
    arguments = parser.parse_args()
    if len(arguments.urls) % 2:
        parser.error("URLs come in pairs: ORIGINAL LOCAL")
    if not chromium.executable():
        print("compare-pages: no Chromium on PATH (Debian: apt-get install chromium)", file=sys.stderr)
        return 69
    arguments.into.mkdir(parents=True, exist_ok=True)
    pairs = list(zip(arguments.urls[::2], arguments.urls[1::2]))
    all_same = True
    with chromium.Chromium(arguments.flag) as online, chromium.Chromium([NOTHING_REMOTE]) as offline:
        for number, pair in enumerate(pairs, 1):
            print(f"{number}. {pair[0]}  {pair[1]}", flush=True)
            for window in WINDOWS:
                files = {kind: arguments.into / f"{number:02}-{window}-{kind}.png" for kind in (*SIDES, "difference")}
                all_same &= report(pair, (online, offline), window, files, arguments.run, arguments.timeout)
    return 0 if all_same else 1


if __name__ == "__main__":
    sys.exit(main())
