#!/usr/bin/env python3
"""Writes MIMEType+Table.swift, the library's table of MIME types, from a copy of jshttp/mime-db's db.json.

    Scripts/make-mime-types.py mime-db.json            writes the table
    Scripts/make-mime-types.py mime-db.json --check    exits with 1 if the written table differs
"""

import argparse
import json
import pathlib
import re
import sys
import textwrap

TABLE = pathlib.Path(__file__).resolve().parent.parent / "Sources/LocalSubstitution/HTTP/MIMEType+Table.swift"

# Types that browsers agree on (WHATWG MIME Sniffing, RFC 9239). They override the ranking below.
BY_HAND = {
    "js": "text/javascript",
    "mjs": "text/javascript",
    "xml": "application/xml",
    "mp4": "video/mp4",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "rtf": "application/rtf",
    # What is named so today, rather than Kodak's descriptors.
    "sse": "text/event-stream",
}

HEADER = """\
// swift-format-ignore-file

// Written by Scripts/make-mime-types.py: change the script, not this file.
// The data is jshttp/mime-db's (https://github.com/jshttp/mime-db), under the MIT licence:
// Copyright (c) 2014 Jonathan Ong, Copyright (c) 2015-2022 Douglas Christopher Wilson.

extension MIMEType {
    /// The types, each with its extensions, such as `text/ css:css html:htm,html,shtml` for `text/css` and `text/html`.
    static let table: StaticString = \"\"\"
"""

FOOTER = """\
        \"\"\"
}
"""


def rank(name, source):
    """Returns the rank of a type among those that claim the same extension. The lowest wins."""
    return (
        {"iana": 0, "apache": 1}.get(source, 2),
        "/x-" in name,
        len(name),  # The plain registration before a vendor's or a special case: xsl, ac, mts.
        [-ord(letter) for letter in name],  # The last in the alphabet: video before audio, for 3gpp.
    )


def types_by_extension(db):
    claims = {}
    for name, entry in db.items():
        for extension in entry.get("extensions", []):
            claims.setdefault(extension, []).append((rank(name, entry.get("source")), name))
    return {extension: min(claimed)[1] for extension, claimed in claims.items()} | BY_HAND


def table(db):
    # The parts of types after the slash, with their extensions, by the parts before it.
    kinds = {}
    for extension, name in sorted(types_by_extension(db).items()):
        if not re.fullmatch(r"[a-z0-9_-]+:[a-z0-9.+-]+/[a-z0-9.+-]+", f"{extension}:{name}"):
            sys.exit(f"cannot be written into the table: {extension}:{name}")
        kind, rest = name.split("/")
        kinds.setdefault(kind, {}).setdefault(rest, []).append(extension)
    indent = " " * 8
    lines = []
    for kind, types in sorted(kinds.items()):
        words = [f"{kind}/"] + [f"{rest}:{','.join(extensions)}" for rest, extensions in sorted(types.items())]
        lines += textwrap.wrap(
            " ".join(words), 130, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    return HEADER + "\n".join(lines) + "\n" + FOOTER


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("database", type=pathlib.Path, help="a copy of jshttp/mime-db's db.json")
    arguments.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = arguments.parse_args()

    text = table(json.loads(arguments.database.read_text(encoding="utf-8")))
    if not arguments.check:
        TABLE.write_text(text, encoding="utf-8")
    elif not TABLE.exists() or TABLE.read_text(encoding="utf-8") != text:
        sys.exit(f"{TABLE} is not what this script writes from {arguments.database}")


if __name__ == "__main__":
    main()
