#!/usr/bin/env bash
# Measures `substitute check --remote` with one file of 50 MB and one of 100 MB, each beside `substitute get` of the same URL.
#
#     Benchmarks/remote.sh [ROUNDS]
#
# The origin is `substitute serve` on loopback. Each run is a process, and the fastest of all rounds counts, since other work on the
# machine only adds time.
set -euo pipefail
rounds="${1:-5}"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift build -c release --product substitute
substitute="$(swift build -c release --show-bin-path)/substitute"
folder="$(mktemp -d)"
server=""
finish() {
    if [[ -n "$server" ]]; then kill "$server" 2>/dev/null || true; fi
    wait
    rm -rf "$folder"
}
trap finish EXIT

mkdir "$folder/Resources"
for size in 50 100; do head -c "${size}000000" /dev/urandom >"$folder/Resources/$size.bin"; done
echo '{ "http://origin.invalid/50.bin": "50.bin", "http://origin.invalid/100.bin": "100.bin" }' >"$folder/origin.json"
"$substitute" serve --origin http://origin.invalid --map "$folder/origin.json" >"$folder/serve.log" \
    2>"$folder/serve.messages" &
server=$!
base=""
for _ in $(seq 100); do
    base="$(grep -o 'http://127[^ ]*' "$folder/serve.messages" || true)"
    if [[ -n "$base" ]]; then break; fi
    sleep 0.1
done
[[ -n "$base" ]] || { cat "$folder/serve.messages" >&2; exit 1; }
echo '{}' >"$folder/empty.json"
for size in 50 100; do echo "{ \"$base$size.bin\": \"$size.bin\" }" >"$folder/$size.json"; done

declare -A fastest
measure() {
    local name="$1" start end time
    shift
    start="$EPOCHREALTIME"
    "$@" >"$folder/run.log" 2>&1 || { cat "$folder/run.log" >&2; exit 1; }
    end="$EPOCHREALTIME"
    time="$((${end/./} - ${start/./}))"
    if [[ -z "${fastest[$name]:-}" ]] || ((time < fastest[$name])); then fastest[$name]="$time"; fi
}
for _ in $(seq "$rounds"); do
    for size in 50 100; do
        measure "get $size" "$substitute" get --map "$folder/empty.json" --resources "$folder/Resources" "$base$size.bin"
        measure "check $size" "$substitute" check --remote --map "$folder/$size.json" --resources "$folder/Resources"
    done
done
awk -v g50="${fastest[get 50]}" -v g100="${fastest[get 100]}" -v c50="${fastest[check 50]}" -v c100="${fastest[check 100]}" '
BEGIN {
    printf "           get        check --remote   ratio\n"
    printf "50 MB   %7.3f s   %7.3f s        %5.2f\n", g50 / 1e6, c50 / 1e6, c50 / g50
    printf "100 MB  %7.3f s   %7.3f s        %5.2f\n", g100 / 1e6, c100 / 1e6, c100 / g100
    printf "ratio   %7.2f     %7.2f\n", g100 / g50, c100 / c50
}'
