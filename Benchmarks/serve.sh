#!/usr/bin/env bash
# `substitute serve` under load, beside nginx: ten seconds each for one substituted file of 10 kB.
#
#     Benchmarks/serve.sh [SECONDS] [CONNECTIONS]
#
# It needs wrk and nginx, and says so where they are missing (Debian: apt-get install wrk nginx-light). All run on this machine,
# so wrk takes its share of the processors from both.
set -euo pipefail
seconds="${1:-10}"
connections="${2:-16}"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
for tool in wrk nginx; do command -v "$tool" >/dev/null || missing+=("$tool"); done
if ((${#missing[@]} > 0)); then
    echo "serve.sh: not installed: ${missing[*]} (Debian: apt-get install wrk nginx-light); nothing was measured" >&2
    exit 69
fi

swift build -c release --product substitute
substitute="$(swift build -c release --show-bin-path)/substitute"
folder="$(mktemp -d)"
processes=()
finish() {
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$folder"
}
trap finish EXIT

mkdir "$folder/Resources"
head -c 10240 /dev/urandom >"$folder/Resources/file.bin"
echo '{ "http://origin.invalid/file.bin": "file.bin" }' >"$folder/substitutions.json"
# nginx is told its port and can't choose one.
port="$(((RANDOM % 20000) + 20000))"
cat >"$folder/nginx.conf" <<END
worker_processes auto;
daemon off;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log $folder/access.log;
    sendfile on;
    keepalive_requests 1000000000;
    server { listen 127.0.0.1:$port; root $folder/Resources; }
}
END
chmod 755 "$folder"
nginx -c "$folder/nginx.conf" 2>"$folder/nginx.log" &
processes+=($!)
"$substitute" serve --origin http://origin.invalid --map "$folder/substitutions.json" \
    >"$folder/serve.log" 2>"$folder/serve.messages" &
processes+=($!)

base=""
for _ in $(seq 100); do
    base="$(grep -o 'http://127[^ ]*' "$folder/serve.messages" || true)"
    if [[ -n "$base" ]] && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
    sleep 0.1
done
[[ -n "$base" ]] || { cat "$folder/serve.messages" >&2; exit 1; }

declare -A rates
measure() {
    wrk -t2 -c"$connections" -d"$seconds" "$2" >"$folder/wrk"
    # wrk prints these lines only if there is something to count.
    if grep -E 'Socket errors|Non-2xx' "$folder/wrk"; then echo "serve.sh: $1 answered with errors" >&2; exit 1; fi
    rates[$1]="$(awk '/^Requests\/sec/ { print $2 }' "$folder/wrk")"
    printf '%-18s %10s requests a second, no error\n' "$1" "${rates[$1]}"
}
measure "nginx" "http://127.0.0.1:$port/file.bin"
measure "substitute serve" "${base}file.bin"
awk -v a="${rates[substitute serve]}" -v b="${rates[nginx]}" 'BEGIN { printf "ratio              %10.2f\n", a / b }'
