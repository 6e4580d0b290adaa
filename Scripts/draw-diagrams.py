#!/usr/bin/env python3
"""Draws the diagrams of the articles.

    what-a-request-meets.svg   an attached session beside one that has the cache only
    a-map-and-its-files.svg    the lines of a map, and the files that they name

Both are in Sources/LocalSubstitution/Documentation.docc/Resources.

Usage: draw-diagrams.py             writes the files
       draw-diagrams.py --check     changes nothing; exits with 1 if a file isn't what this script draws

Needs only Python 3's standard library.  Each file has the colours for light and for dark pages: a rule in
the SVG chooses, so the same file works on GitHub and in DocC.  The picture has its own background, so it can be read
even where the page and the rule disagree.
"""

import os
import sys
from xml.sax.saxutils import escape

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                      "Sources/LocalSubstitution/Documentation.docc/Resources")

# What is drawn: fill, border and text, on light and on dark pages.
COLOURS = {
    "page": (("#ffffff", "#d0d7de", "#1f2328"), ("#0d1117", "#3d444d", "#f0f6fc")),
    "step": (("#f6f8fa", "#818b98", "#1f2328"), ("#1b222b", "#7d8590", "#f0f6fc")),
    "entry": (("#dafbe1", "#1a7f37", "#0b3d1a"), ("#12301d", "#3fb950", "#d2f7da")),
    "network": (("#ddf4ff", "#0969da", "#0a3069"), ("#10243e", "#4493f8", "#d6e9ff")),
    "error": (("#ffebe9", "#cf222e", "#82071e"), ("#381a1c", "#f85149", "#ffdcd7")),
}
MUTED, LINE = ("#59636e", "#9aa4b0"), ("#6e7781", "#8b949e")

# The mean width of letters in the widest of the usual fonts, in parts of the size, so that texts fit with any of them.
SANS, BOLD, MONO = 0.55, 0.63, 0.62


# ------------------------------------------------------------------ drawing

class Picture:
    def __init__(self, width, height, title):
        self.size, self.title, self.parts = (width, height), title, []
        self.add('<rect class="page" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>' % (width - 1, height - 1))

    def add(self, part):
        self.parts.append(part)

    def text(self, x, y, text, style="", anchor="start", room=None):
        """Writes a line of text.  y: its baseline.  style: the names of its classes.  room: the space that it has."""
        words = style.split()
        size = 12.5 if "small" in words else 16 if "title" in words else 13 if "mono" in words else 14
        letter = MONO if "mono" in words else BOLD if "bold" in words or "title" in words else SANS
        width = len(text) * size * letter
        room = self.size[0] if room is None else room
        if width > room:
            sys.exit("“%s” needs %d of %d" % (text, width, room))
        middle = ' text-anchor="middle"' if anchor == "middle" else ""
        name = ' class="%s"' % style if style else ""
        self.add('<text x="%g" y="%g"%s%s>%s</text>' % (x, y, name, middle, escape(text)))
        return width

    def box(self, kind, x, y, width, height, title, note=None):
        """Draws a box around a title and a note, both in its middle."""
        self.add('<rect class="%s" x="%g" y="%g" width="%g" height="%g" rx="6"/>' % (kind, x, y, width, height))
        middle = y + height / 2
        self.text(x + width / 2, middle + (4.5 if note is None else -3), title, "on-%s bold" % kind, "middle", width - 6)
        if note:
            self.text(x + width / 2, middle + 14, note, "on-%s small" % kind, "middle", width - 6)

    def arrow(self, *points):
        """Draws a line through points, with a head at its end."""
        path = "M" + " L".join("%g %g" % point for point in points)
        self.add('<path class="line" d="%s"/>' % path)
        self.head(points[-1], down=points[-1][0] == points[-2][0])

    def head(self, end, down=False):
        x, y = end
        sides = [(x - 4, y - 8), (x + 4, y - 8)] if down else [(x - 8, y - 4), (x - 8, y + 4)]
        corners = " ".join("%g,%g" % point for point in [end] + sides)
        self.add('<polygon class="head" points="%s"/>' % corners)

    def svg(self):
        light, dark = (self.rules(index) for index in (0, 1))
        return "\n".join([
            '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">'
            % (self.size * 2),
            "<title>%s</title>" % escape(self.title),
            "<style>",
            "text { font: 14px -apple-system, BlinkMacSystemFont, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif }",
            ".bold { font-weight: 600 }",
            ".title { font-size: 16px; font-weight: 600 }",
            ".small { font-size: 12.5px }",
            ".mono { font-size: 13px; font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace }",
            ".line { fill: none; stroke-width: 1.5 }",
            ".dots { stroke-dasharray: 1.5 4; stroke-linecap: round }",
            *light,
            "@media (prefers-color-scheme: dark) {",
            *dark,
            "}",
            "</style>",
            *self.parts,
            "</svg>",
            "",
        ])

    @staticmethod
    def rules(index):
        rules = ["text { fill: %s }" % COLOURS["page"][index][2], "text.muted { fill: %s }" % MUTED[index]]
        for kind, colours in COLOURS.items():
            fill, border, text = colours[index]
            rules.append(".%s { fill: %s; stroke: %s }" % (kind, fill, border))
            rules.append("text.on-%s { fill: %s }" % (kind, text))
        return rules + [".line { stroke: %s }" % LINE[index], ".head { fill: %s }" % LINE[index]]


# ---------------------------------------------------- what a request meets

def request_picture():
    picture = Picture(800, 548, "What a request meets in an attached session, and cache only")
    spine, gap, leaf = 136, 66, 158                 # a lane's steps, its arrows' labels, and what responds

    def lane(x, title, note):
        picture.text(x, 38, title, "title")
        picture.text(x, 58, note, "muted small", room=365)
        picture.box("step", x, 78, spine, 36, "Request")

    def step(x, y, height, title, note):
        picture.box("step", x, y, spine, height, title, note)

    def down(x, top, bottom, *labels):
        picture.arrow((x + spine / 2, top), (x + spine / 2, bottom))
        first = (top + bottom) / 2 + 4 - 16 * (len(labels) - 1) / 2
        for index, label in enumerate(labels):
            picture.text(x + spine / 2 + 10, first + 16 * index, label, "muted small", room=280)

    def leaves(x, y, label, kind, title, note):
        picture.arrow((x + spine, y), (x + spine + gap, y))
        picture.text(x + spine + gap / 2 - 3, y - 6, label, "muted small", "middle", gap - 4)
        picture.box(kind, x + spine + gap, y - 24, leaf, 48, title, note)

    def ending(x):
        leaves(x, 422, "fresh", "network", "Stored response", "of the server")
        step(x, 395, 54, "Default cache", "a plain URLCache")
        down(x, 449, 486, "nothing fresh")
        picture.box("network", x, 486, spine, 40, "Network")

    left, right = 20, 420
    picture.add('<path class="line dots" d="M 400 28 V 520"/>')

    lane(left, "Attached session", "attach, makeSession, install, sessions of tests")
    down(left, 114, 142)
    leaves(left, 168, "matches", "entry", "Entry's response", "file, error, stream, …")
    leaves(left, 226, "forward", "network", "Network", "forwardTo, whenOffline")
    step(left, 142, 110, "URL protocol", "looks in the map")
    down(left, 252, 296, "no entry matches")
    leaves(left, 323, ".fail", "error", "Error", "in a test, an issue")
    step(left, 296, 54, "unmatched", "the session's rule")
    down(left, 350, 395, ".load")
    ending(left)

    lane(right, "Cache only", "the cache is the session's urlCache")
    down(right, 114, 142)
    leaves(right, 169, "no", "network", "Network", "POST, reload policies")
    step(right, 142, 54, "URLSession", "asks its cache?")
    down(right, 196, 240, "yes")
    leaves(right, 267, "matches", "entry", "Entry's response", "file, body, status")
    step(right, 240, 54, "The cache", "looks in the map")
    down(right, 294, 395, "no entry matches, or the entry", "needs an attached session")
    ending(right)
    return picture.svg()


# -------------------------------------------------------- a map and its files

def map_picture():
    picture = Picture(800, 324, "A map, and the files that its entries name")
    picture.text(20, 36, "substitutions.json", "title")
    width = picture.text(574, 36, "Substitutes", "title")
    picture.text(574 + width, 36, "its folder", "muted small", room=114)
    picture.add('<rect class="step" x="20" y="50" width="500" height="250" rx="6"/>')
    picture.add('<rect class="step" x="574" y="50" width="206" height="162" rx="6"/>')

    lines = [
        '"https://www.example.com/logo.png": "logo.png",',
        '"https://api.example.com/user": { "file": "user.json" },',
        '"https://cdn.example.com/app/*": "app/*",',
        '"https://api.example.com/gone": { "status": 404 },',
        '"https://cdn.example.com/app/live/*": null',
    ]
    files = [(84, ["logo.png"]), (120, ["user.json"]), (172, ["app/main.js", "app/css/main.css", "…"])]
    picture.text(32, 76, "{", "mono")
    for index, line in enumerate(lines):
        y = 107 + 36 * index
        end = 48 + picture.text(48, y, line, "mono", room=460)
        if index < 3:
            target, names = files[index]
            first = target + 4.5 - 19 * (len(names) - 1) / 2
            for row, name in enumerate(names):
                picture.text(600, first + 19 * row, name, "mono", room=176)
        else:
            target = (238, 282)[index - 3]
        picture.add('<path class="line dots" d="M %g %g H 520"/>' % (end + 6, y - 4))
        picture.arrow((520, y - 4), (532, y - 4), (554, target), (574, target))
    picture.text(32, 107 + 36 * 5, "}", "mono")
    # The pattern's files belong together.
    picture.add('<path class="line" d="M 592 145 H 586 V 199 H 592"/>')
    picture.box("entry", 574, 220, 206, 36, "404, from the map")
    picture.box("network", 574, 264, 206, 36, "Network")
    return picture.svg()


# --------------------------------------------------------------------- files

def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("Usage: draw-diagrams.py [--check]")
    different = []
    for name, svg in [("what-a-request-meets", request_picture()), ("a-map-and-its-files", map_picture())]:
        path = os.path.join(FOLDER, name + ".svg")
        if sys.argv[1:]:
            try:
                with open(path, encoding="utf-8") as file:
                    same = file.read() == svg
            except OSError:
                same = False
            different += [] if same else [path]
        else:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(svg)
            print(path)
    if different:
        sys.exit("Run Scripts/draw-diagrams.py, which draws these files differently: " + ", ".join(different))


if __name__ == "__main__":
    main()
