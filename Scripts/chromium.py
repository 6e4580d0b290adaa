"""A headless Chromium, driven by the DevTools protocol through a pipe. It needs only Python 3 and Chromium."""

import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-lcd-text",
    "--force-color-profile=srgb", "--autoplay-policy=user-gesture-required",
    # Without these, frames of other sites would be separate targets, and their events would be lost.
    "--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process",
)


class Failure(Exception):
    """An error from Chromium, or a timeout."""


def executable():
    """Returns the path of the first Chromium on PATH, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A process with a profile in a temporary folder. Use it in a `with` statement."""

    def __init__(self, flags=(), program=None):
        self.profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        command = [program or executable(), *FLAGS, f"--user-data-dir={self.profile.name}", *flags]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        theirs, self.writer = os.pipe()
        self.reader, their_writer = os.pipe()

        def attach():
            # Chromium reads commands from descriptor 3 and writes to 4. The first copies keep either from being overwritten.
            ends = os.dup(theirs), os.dup(their_writer)
            for end, number in zip(ends, (3, 4)):
                os.dup2(end, number)

        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=attach, close_fds=False)
        os.close(theirs)
        os.close(their_writer)
        self.numbers = itertools.count(1)
        self.unread = b""
        self.answers = {}
        self.pages = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.command("Browser.close", timeout=5)
            self.process.wait(5)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        self.profile.cleanup()

    def command(self, method, session=None, timeout=30, **parameters):
        """Sends a command and returns its result. Events that arrive meanwhile go to their pages."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data):]
        end = time.monotonic() + timeout
        while number not in self.answers:
            if not self.receive(end - time.monotonic()):
                raise Failure(f"{method}: no answer in {timeout} s")
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def receive(self, seconds):
        """Reads what has arrived, or waits for it. Returns whether anything arrived in time."""
        if not select.select([self.reader], [], [], max(0, seconds))[0]:
            return False
        data = os.read(self.reader, 1 << 20)
        if not data:
            raise Failure("Chromium ended")
        *messages, self.unread = (self.unread + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            elif page := self.pages.get(message.get("sessionId")):
                page.receive(message["method"], message["params"])
        return True

    def open(self):
        """Opens an empty page with its own cookies and cache."""
        return Page(self)


class Page:
    """A page, what it has requested, and what went wrong. Use it in a `with` statement."""

    def __init__(self, chromium):
        self.chromium = chromium
        self.context = chromium.command("Target.createBrowserContext")["browserContextId"]
        target = chromium.command("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = chromium.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        chromium.pages[self.session] = self
        self.loading = {}
        self.last_activity = time.monotonic()
        self.loads = 0
        self.requests = 0
        self.problems = []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.chromium.command("Target.disposeBrowserContext", browserContextId=self.context)
        del self.chromium.pages[self.session]

    def command(self, method, **parameters):
        return self.chromium.command(method, self.session, **parameters)

    def receive(self, event, parameters):
        if event == "Page.loadEventFired":
            self.loads += 1
        elif event == "Network.requestWillBeSent":
            self.requests += 1
            self.loading[parameters["requestId"]] = parameters["request"]["url"]
        elif event == "Network.responseReceived" and parameters["response"]["status"] >= 400:
            self.problems.append(f"{parameters['response']['status']} {parameters['response']['url']}")
        elif event == "Network.loadingFailed":
            url = self.loading.get(parameters["requestId"])
            if url and not parameters.get("canceled"):
                reason = parameters.get("blockedReason") or parameters.get("corsErrorStatus", {}).get("corsError")
                self.problems.append(f"{reason or parameters['errorText']} {url}")
        elif event == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details["text"]
            self.problems.append(f"exception: {text.splitlines()[0]} ({details.get('url', 'inline')})")
        elif event == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            texts = (str(value.get("value", value.get("description", ""))) for value in parameters["args"])
            self.problems.append("console: " + " ".join(texts))
        elif event == "Log.entryAdded":
            entry = parameters["entry"]
            # Failed requests are already listed with their reasons.
            if entry["level"] == "error" and entry["source"] != "network":
                self.problems.append(f"{entry['source']}: {entry['text']}")
        if event in ("Network.loadingFinished", "Network.loadingFailed"):
            self.loading.pop(parameters["requestId"], None)
        if event.startswith("Network."):
            self.last_activity = time.monotonic()

    def run(self, script):
        """Runs a script, awaits its value and returns it."""
        result = self.command("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def load(self, url, timeout=30):
        """Navigates, and returns when the load event has fired."""
        loads = self.loads
        result = self.command("Page.navigate", url=url)
        if "errorText" in result:
            raise Failure(f"{url}: {result['errorText']}")
        end = time.monotonic() + timeout
        while self.loads == loads:
            if not self.chromium.receive(end - time.monotonic()):
                raise Failure(f"{url} didn't load in {timeout} s")

    def settle(self, quiet=0.5, timeout=30):
        """Waits until no request has been running for `quiet` seconds. Returns False if time runs out."""
        end = time.monotonic() + timeout
        self.last_activity = time.monotonic()
        while self.loading or time.monotonic() < self.last_activity + quiet:
            if time.monotonic() > end:
                return False
            self.chromium.receive(0.05)
        return True
