#!/bin/sh
# Finds the native mem0-code and becomes it. Order: MEM0_CODE_BIN, bin/<target>/ beside this file,
# ~/.mem0/bin, PATH. With none of them a hook says nothing and succeeds, so that the agent goes on.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || here=.

case "$(uname -s 2>/dev/null)" in
    Darwin) os=apple-darwin ;;
    MINGW* | MSYS* | CYGWIN*) os=pc-windows-msvc ;;
    *) os=unknown-linux-musl ;;
esac
case "$(uname -m 2>/dev/null)" in
    arm64 | aarch64) cpu=aarch64 ;;
    *) cpu=x86_64 ;;
esac

try() {
    [ -f "$1" ] && [ -x "$1" ] && [ ! "$1" -ef "$0" ]
}

for found in \
    "${MEM0_CODE_BIN:-}" \
    "$here/$cpu-$os/mem0-code" \
    "$here/$cpu-unknown-linux-gnu/mem0-code" \
    "$here/$cpu-$os/mem0-code.exe" \
    "${MEM0_DIR:-${HOME:-}/.mem0}/bin/mem0-code" \
    "${HOME:-}/.mem0/bin/mem0-code"; do
    if [ -n "$found" ] && try "$found"; then
        exec "$found" "$@"
    fi
done

# The host may have put this very folder on PATH, so this file must not find itself.
rest="${PATH:-}:"
while [ -n "$rest" ]; do
    folder=${rest%%:*}
    rest=${rest#*:}
    if [ -n "$folder" ] && try "$folder/mem0-code"; then
        if [ "$(CDPATH='' cd -- "$folder" && pwd -P)" != "$here" ]; then
            exec "$folder/mem0-code" "$@"
        fi
    fi
done

missing="mem0-code is not installed on this machine. Install it (cargo install --git {{REPOSITORY}} mem0-code), or set MEM0_CODE_BIN to the program."
case "${1:-}" in
    hook)
        # One host takes silence for a refusal, and an answer it does not expect for an error.
        case "${2:-} ${3:-}" in
            "antigravity PreToolUse") printf '{"decision":"allow"}\n' ;;
            "antigravity "*) printf '{}\n' ;;
        esac
        exit 0
        ;;
    mcp)
        # Answers so that the user reads why there is no memory, instead of a server that died.
        while IFS= read -r line; do
            id=$(printf '%s\n' "$line" | sed -n 's/.*"id"[[:space:]]*:[[:space:]]*\("[^"]*"\|[0-9][0-9]*\).*/\1/p')
            [ -n "$id" ] || continue
            case "$line" in
                *'"initialize"'*)
                    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"mem0","version":"{{VERSION}}"},"instructions":"%s"}}\n' "$id" "$missing"
                    ;;
                *'"tools/list"'*)
                    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\n' "$id"
                    ;;
                *'"ping"'*)
                    printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"
                    ;;
                *)
                    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"%s"}}\n' "$id" "$missing"
                    ;;
            esac
        done
        exit 0
        ;;
    *)
        printf 'error: %s\n' "$missing" >&2
        exit 1
        ;;
esac
