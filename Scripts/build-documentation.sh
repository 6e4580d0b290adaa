#!/usr/bin/env bash
# Builds the libraries' documentation with DocC, which comes with the toolchain. Fails if DocC has a warning.
#
#     Scripts/build-documentation.sh [LIBRARY…]
#
# Without a name, it builds the documentation of all libraries. Each archive is .build/documentation/LIBRARY.doccarchive. The first
# run builds the package, which takes minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# As in .spi.yml.
libraries=(LocalSubstitution LocalSubstitutionRecording LocalSubstitutionServer LocalSubstitutionTesting)
archives=.build/documentation

fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

wanted=("$@")
if [[ $# -eq 0 ]]; then wanted=("${libraries[@]}"); fi
for library in "${wanted[@]}"; do
    [[ " ${libraries[*]} " == *" $library "* ]] ||
        fail "No library has the name “$library”. The libraries are: ${libraries[*]}."
done

if command -v docc >/dev/null; then
    docc=(docc)
elif command -v xcrun >/dev/null && xcrun --find docc >/dev/null 2>&1; then
    docc=(xcrun docc)
else
    fail "There is no docc. Add the folder with the toolchain's programs to PATH."
fi

printf 'Reading the symbols…\n'
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# None of an earlier run, so that a missing one is noticed.
rm -rf .build/*/symbolgraph
# SwiftPM also wants the symbols of the tests, which it doesn't build here. So it fails even if it has written the libraries'.
swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members --emit-extension-block-symbols \
    >"$work/log" 2>&1 || true
# For each library, a file with its symbols, and one for each module that it extends.
graphs="$(sed -n 's/^Files written to //p' "$work/log" | tail -n 1)"
for library in "${wanted[@]}"; do
    [[ -s "$graphs/$library.symbols.json" ]] || { cat "$work/log" >&2; fail "The symbols of $library can't be read."; }
done

mkdir -p "$archives"
faulty=()
for library in "${wanted[@]}"; do
    printf '\n=== %s\n' "$library"
    mkdir "$work/$library"
    cp "$graphs/$library"[.@]*symbols.json "$work/$library"
    # Two of the libraries have articles. The others have only their symbols.
    articles=()
    if [[ -d "Sources/$library/Documentation.docc" ]]; then articles=("Sources/$library/Documentation.docc"); fi
    "${docc[@]}" convert ${articles[@]+"${articles[@]}"} --additional-symbol-graph-dir "$work/$library" \
        --fallback-display-name "$library" --fallback-bundle-identifier "$library" \
        --output-path "$archives/$library.doccarchive" --warnings-as-errors || faulty+=("$library")
done

((${#faulty[@]} == 0)) || fail "DocC has warnings about: ${faulty[*]}."
printf '\nThe archives are in %s. To read one, serve it and open its page:\n\n' "$archives"
for library in "${wanted[@]}"; do
    page="$(printf '%s' "$library" | tr '[:upper:]' '[:lower:]')"
    printf '    python3 -m http.server -d %s/%s.doccarchive\n' "$archives" "$library"
    printf '    http://127.0.0.1:8000/documentation/%s/\n' "$page"
done
