#!/usr/bin/env python3
"""Draws the four pictures of the demo site.

    Sources/substitute/Demo/Origin/nav-bg.png   the gray navigation bar (8 x 104, tileable)
    Sources/substitute/Demo/Origin/hero.png     the large picture in flat grays (1200 x 600)
    Resources/fakeGlobalNavBG.png               the blue navigation bar (160 x 104, tileable)
    Resources/site/hero.png                     the large picture in color (1200 x 600)

Usage: draw-demo-pictures.py [folder]      (default: the folder above Scripts)

Needs only Python 3's standard library.  The random generators have fixed
seeds, so every run draws the same pixels; the compressed bytes may vary with the
version of zlib.
"""

import math
import os
import random
import struct
import sys
import zlib

WIDTH, HEIGHT = 1200, 600
SUB = 4                                   # sub-columns per pixel, for smooth edges
SUN_X, SUN_Y, SUN_R = 770.0, 286.0, 27.0


# ---------------------------------------------------------------- PNG files

def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def deflate(data):
    """Returns the shorter result of two deflate strategies."""
    packers = [zlib.compressobj(9, strategy=strategy) for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED)]
    return min((packer.compress(data) + packer.flush() for packer in packers), key=len)


def filtered(rows, step, filter_type):
    """Returns the rows after one of PNG's filters, each with the filter's number: 0 None, 1 Sub, 2 Up."""
    data, above = bytearray(), bytes(len(rows[0]))
    for row in rows:
        before = (bytes(len(row)), bytes(step) + row, above)[filter_type]
        data += bytes([filter_type]) + bytes((a - b) & 255 for a, b in zip(row, before))
        above = row
    return bytes(data)


def png(path, width, rows, colour_type, palette=None):
    """Writes a PNG file.  rows: one bytes object per row.  colour_type: 0 grey, 2 RGB, 3 palette.
    Keeps the filter whose file is smallest."""
    step = {0: 1, 2: 3, 3: 1}[colour_type]
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, colour_type, 0, 0, 0))
    if palette:
        out += chunk(b"PLTE", b"".join(bytes(c) for c in palette))
    best = min((deflate(filtered(rows, step, filter_type)) for filter_type in (0, 1, 2)), key=len)
    out += chunk(b"IDAT", best) + chunk(b"IEND", b"")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(out)
    print("%7d  %s" % (len(out), path))


# ------------------------------------------------------------------ colours

def ramp(stops, t):
    """Returns the colour at t (0...1) of [(position, (r, g, b)), ...]."""
    if t <= stops[0][0]:
        return stops[0][1]
    for (p, a), (q, b) in zip(stops, stops[1:]):
        if t <= q:
            f = (t - p) / (q - p)
            return tuple(x + (y - x) * f for x, y in zip(a, b))
    return stops[-1][1]


def byte(value):
    return max(0, min(255, int(value + 0.5)))


# ---------------------------------------------------------- navigation bars

BAR_HEIGHT = 104                          # shown 52 points high: two pixels per point

BLUE = {"light": [(0.00, (150, 200, 246)), (0.497, (70, 146, 226))],
        "deep": [(0.503, (38, 118, 208)), (0.80, (24, 96, 190)),
                 (1.00, (44, 132, 222))],
        "top": (206, 231, 255), "edge": (10, 52, 122), "line": (16, 72, 152)}
GREY = {"light": [(0.00, (248, 248, 248)), (0.497, (222, 222, 222))],
        "deep": [(0.503, (206, 206, 206)), (0.80, (194, 194, 194)),
                 (1.00, (208, 208, 208))],
        "top": (255, 255, 255), "edge": (122, 122, 122), "line": (164, 164, 164)}


def bar_colour(style, y):
    if y < 2:
        return style["top"]
    if y >= BAR_HEIGHT - 2:
        return style["edge"]
    if y >= BAR_HEIGHT - 4:
        return style["line"]
    t = (y - 2) / (BAR_HEIGHT - 7)
    return ramp(style["light"] if t < 0.5 else style["deep"], t)


def draw_bars(folder):
    rows = [bytes([byte(bar_colour(GREY, y)[0])] * 8) for y in range(BAR_HEIGHT)]
    png(os.path.join(folder, "Sources/substitute/Demo/Origin/nav-bg.png"), 8, rows, 0)

    # The blue bar has a soft sheen of whole waves, so it tiles without a seam.
    width, rows = 160, []
    for y in range(BAR_HEIGHT):
        colour, row = bar_colour(BLUE, y), bytearray()
        inner = 2 <= y < BAR_HEIGHT - 4
        for x in range(width):
            sheen = 1.0 * math.sin(2 * math.pi * (x + y * 0.5) / width) if inner else 0
            row += bytes(byte(c + sheen) for c in colour)
        rows.append(bytes(row))
    png(os.path.join(folder, "Resources/fakeGlobalNavBG.png"), width, rows, 2)


# -------------------------------------------------------------- the mountains

def ridge(seed, base, height, roughness, octaves=7, sharp=0.0):
    """Returns a ridge line, y for each sub-column: value noise, partly folded into peaks."""
    dice = random.Random(seed)
    line = [0.0] * (WIDTH * SUB)
    span, gain, total = 2.6, 1.0, 0.0
    for _ in range(octaves):
        knots = [dice.random() for _ in range(int(span) + 3)]
        shift = dice.random()
        for i in range(len(line)):
            p = i / len(line) * span + shift
            k = int(p)
            f = p - k
            f = f * f * (3 - 2 * f) * (1 - sharp) + f * sharp
            value = knots[k] + (knots[k + 1] - knots[k]) * f
            line[i] += gain * (1 - abs(2 * value - 1) if sharp > 0.4 else value)
        total += gain
        gain *= roughness
        span *= 2.1
    return [base - height * v / total for v in line]


def plant(line, seed, count, low, high, gap):
    """Plants fir trees on a ridge line.  In `gap`, a range of x, they stay low."""
    dice = random.Random(seed)
    ground = line[:]
    for _ in range(count):
        x = dice.random() * WIDTH
        tall = low + (high - low) * dice.random() ** 1.6
        if gap[0] < x < gap[1]:
            tall *= 0.42
        half = tall * (0.17 + 0.05 * dice.random())
        tiers = 5 + int(3 * dice.random())
        centre = int(x * SUB)
        root = ground[min(max(centre, 0), len(line) - 1)] + 5
        for i in range(max(0, int((x - half) * SUB)),
                       min(len(line), int((x + half) * SUB) + 1)):
            d = abs(i / SUB - x) / half              # 0 at the stem, 1 at the tips
            if d >= 1:
                continue
            tier = d * tiers
            stepped = (int(tier) + 0.25 * (tier - int(tier))) / tiers
            line[i] = min(line[i], root - tall * (1 - 0.62 * stepped - 0.38 * d))
    return line


def scene():
    """Returns the ridge lines, from the farthest to the nearest, without and with trees."""
    lines = [
        ridge(11, 388, 156, 0.50, sharp=0.8),
        ridge(23, 420, 150, 0.50, sharp=0.8),
        ridge(37, 466, 170, 0.47, sharp=0.7),
        ridge(41, 500, 150, 0.46),
        ridge(53, 548, 140, 0.44),
        ridge(67, 596, 110, 0.40, octaves=6),
    ]
    bare = [line[:] for line in lines]
    lines[4] = plant(lines[4], 5, 240, 9, 26, (700, 860))
    lines[5] = plant(lines[5], 7, 120, 22, 118, (430, 900))
    return bare, lines


def cover(line, x, y):
    """Returns how much of the pixel lies under the ridge line, 0...1."""
    part = 0.0
    for h in line[x * SUB:x * SUB + SUB]:
        d = y + 1 - h
        part += 0.0 if d <= 0 else 1.0 if d >= 1 else d
    return part / SUB


SKY = [(0.00, (22, 28, 74)), (0.22, (44, 52, 118)), (0.42, (92, 82, 154)),
       (0.58, (160, 106, 166)), (0.72, (224, 136, 150)), (0.85, (250, 178, 140)),
       (0.95, (255, 216, 166)), (1.00, (255, 241, 208))]
# Each ridge from its crest to its foot, where the mist lies.
LAYERS = [((170, 126, 176), (236, 172, 168)), ((124, 100, 162), (206, 150, 172)),
          ((82, 78, 144), (160, 126, 172)), ((52, 58, 118), (112, 102, 158)),
          ((30, 40, 88), (70, 76, 132)), ((11, 17, 46), (24, 32, 74))]
SKY_STEPS, LAYER_STEPS = 106, 25


def sky_value(x, y):
    """Returns the sky's brightness: 0 at the zenith, 1 in the sun."""
    distance = math.hypot((x - SUN_X) * 0.72, y - SUN_Y)
    if math.hypot(x - SUN_X, y - SUN_Y) <= SUN_R - 0.5:
        return 1.0
    t = (y / 400.0) ** 1.15 * 0.84
    return min(0.965, t + 0.34 * math.exp(-distance / 105.0))


def smooth_noise(seed, cell):
    """Returns a function that computes a row of two-dimensional value noise."""
    dice = random.Random(seed)
    columns, lines = WIDTH // cell + 3, HEIGHT // cell + 3
    grid = [[dice.random() for _ in range(columns)] for _ in range(lines)]

    def row(y):
        j = y // cell
        f = (y % cell) / cell
        f = f * f * (3 - 2 * f)
        knots = [a + (b - a) * f for a, b in zip(grid[j], grid[j + 1])]
        out = []
        for x in range(WIDTH):
            i = x // cell
            g = (x % cell) / cell
            g = g * g * (3 - 2 * g)
            out.append(knots[i] + (knots[i + 1] - knots[i]) * g)
        return out
    return row


def draw_colour_hero(path, bare, lines):
    palette = [tuple(byte(c) for c in ramp(SKY, i / (SKY_STEPS - 1)))
               for i in range(SKY_STEPS)]
    for crest, foot in LAYERS:
        palette += [tuple(byte(a + (b - a) * i / (LAYER_STEPS - 1))
                          for a, b in zip(crest, foot)) for i in range(LAYER_STEPS)]
    nearest = {}

    def index_of(colour):
        key = tuple(int(c) >> 1 for c in colour)
        if key not in nearest:
            nearest[key] = min(range(len(palette)), key=lambda i: sum(
                (a - b) ** 2 for a, b in zip(palette[i], colour)))
        return nearest[key]

    sky_beside_sun = ramp(SKY, 0.9)
    dice = random.Random(2010)
    stars = {}
    for _ in range(150):
        x, y = int(dice.random() * WIDTH), int(dice.random() ** 1.5 * 210)
        stars[x, y] = 0.25 + 0.6 * dice.random() ** 2 * (1 - y / 260)
    crests = [[min(line[x * SUB:x * SUB + SUB]) for x in range(WIDTH)] for line in lines]
    ground = [line[::SUB] for line in bare]
    depth = [120, 120, 130, 120, 120, 110]
    broad, fine = smooth_noise(3, 44), smooth_noise(4, 7)
    # Streaks of cloud: noise stretched sideways.
    cloud_dice = random.Random(8)
    clouds = [(cloud_dice.random() * WIDTH, 60 + cloud_dice.random() * 190,
               120 + 220 * cloud_dice.random(), 3 + 6 * cloud_dice.random(),
               0.03 + 0.05 * cloud_dice.random()) for _ in range(17)]

    def place(layer, x, y, grain):
        """Returns the palette index of one pixel of the sky (-1) or of a ridge."""
        if layer < 0:
            t = sky_value(x, y)
            if t < 1.0:
                for cx, cy, w, h, gain in near:
                    dx = (x - cx) / w
                    if -2.5 < dx < 2.5:
                        t += gain * math.exp(-dx * dx - ((y - cy - 5 * math.sin(x / 70)) / h) ** 2)
                t = min(t, 0.97)
            return max(0, min(SKY_STEPS - 1, int(t * (SKY_STEPS - 1) + 0.5 + grain * 0.95)))
        t = max(0.0, (y - ground[layer][x]) / depth[layer])
        t = t ** 1.25 if layer < 5 else t * 0.6
        t += (broad_row[x] - 0.5) * 0.20 + (fine_row[x] - 0.5) * (0.05 + 0.025 * layer)
        # Light from the sun's side on the far ridges.
        if layer < 5:
            t += 0.22 * math.exp(-abs(x - SUN_X) / 190.0) * (1 - layer / 6)
        i = int(t * (LAYER_STEPS - 1) + 0.5 + grain * 0.95)
        return SKY_STEPS + layer * LAYER_STEPS + max(0, min(LAYER_STEPS - 1, i))

    rows = []
    for y in range(HEIGHT):
        broad_row, fine_row = broad(y), fine(y)
        near = [c for c in clouds if abs(y - c[1]) < 3 * c[3] + 5]
        row = bytearray()
        for x in range(WIDTH):
            grain = dice.random() + dice.random() - 1
            layer, part = -1, 1.0
            for k in range(len(lines) - 1, -1, -1):
                if y + 1 > crests[k][x]:
                    part = cover(lines[k], x, y)
                    if part > 0:
                        layer = k
                        break
            i = place(layer, x, y, grain)
            if layer >= 0 and part < 1:
                behind = layer - 1
                while behind >= 0 and cover(lines[behind], x, y) < 0.5:
                    behind -= 1
                under = palette[place(behind, x, y, grain)]
                i = index_of([a * part + b * (1 - part)
                              for a, b in zip(palette[i], under)])
            elif layer < 0 and (x, y) in stars:
                i = index_of([c + (235 - c) * stars[x, y] for c in palette[i]])
            elif layer < 0:
                edge = SUN_R + 0.5 - math.hypot(x - SUN_X, y - SUN_Y)
                if 0 < edge < 1:
                    i = index_of([a * edge + b * (1 - edge) for a, b in zip(
                        palette[SKY_STEPS - 1], sky_beside_sun)])
            row.append(i)
        rows.append(bytes(row))
    png(path, WIDTH, rows, 3, palette)


GREYS = [(188, 202), (166, 190), (142, 172), (112, 150), (84, 104), (50, 62)]


def draw_grey_hero(path, lines):
    """Draws the same scene in plain greys that only change from top to bottom, so
    that the rows are long runs and the file stays small."""
    crests = [[min(line[x * SUB:x * SUB + SUB]) for x in range(WIDTH)] for line in lines]
    tops = [min(line) for line in crests]
    rows = []
    for y in range(HEIGHT):
        sky = 206 + 36 * min(1.0, y / 330)
        shades = [a + (b - a) * max(0.0, min(1.0, (y - top) / 190))
                  for (a, b), top in zip(GREYS, tops)]
        row = bytearray()
        for x in range(WIDTH):
            sun = max(0.0, min(1.0, SUN_R + 0.5 - math.hypot(x - SUN_X, y - SUN_Y)))
            grey = sky + (252 - sky) * sun
            for k, line in enumerate(lines):
                if y + 1 > crests[k][x]:
                    # Four steps at an edge are enough for the eye.
                    part = int(cover(line, x, y) * 4 + 0.5) / 4
                    grey += (shades[k] - grey) * part
            row.append(byte(grey))
        rows.append(bytes(row))
    png(path, WIDTH, rows, 0)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..")
    folder = os.path.normpath(folder)
    draw_bars(folder)
    bare, lines = scene()
    draw_grey_hero(os.path.join(folder, "Sources/substitute/Demo/Origin/hero.png"), lines)
    draw_colour_hero(os.path.join(folder, "Resources/site/hero.png"), bare, lines)


if __name__ == "__main__":
    main()
