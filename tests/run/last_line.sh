#!/bin/sh
# gdr run's last line: what the program loaded, opened and moved, or why it did not use the software
# NIC, each reason with a program of that kind.
set -eu
gdr=$1
static=$2
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
unset GDR_SOFT_DEVICES GDR_PRESENCE GDR_SOFT_PATH GDR_SOFT_COUNTERS LD_PRELOAD LD_LIBRARY_PATH

fail() { echo "FAILED: $*"; exit 1; }

# says WORDS COMMAND...: the last line has these words.
says() {
  words=$1
  shift
  "$gdr" run --soft-nic "$@" >"$work/out" 2>"$work/err" || fail "$*: $(cat "$work/err")"
  tail -n 1 "$work/err" | grep -qF "$words" || fail "$*: no '$words' in: $(tail -n 1 "$work/err")"
}
unused="gdr run: this program did not use the software NIC: "

says "${unused}it loaded no libibverbs; software GPU" -- sh -c 'echo x'
# Long enough to be seen: these leave no word of their own.
cp "$static" "$work/still"
says "${unused}it loaded no libibverbs; still is statically linked" -- sh -c "$work/still; true"
if [ "$(id -u)" = 0 ]; then
  # Set-user-ID: to another user than the one who runs it.
  cp "$(command -v sleep)" "$work/gains"
  chown nobody "$work/gains" && chmod 4755 "$work/gains"
  says "${unused}it loaded no libibverbs; gains is set-user-ID or set-group-ID, so the loader ignored" \
    -- sh -c "$work/gains 4; true"
fi
command -v ibv_devinfo >/dev/null || { echo "skipped: no ibv_devinfo (package ibverbs-utils)"; exit 77; }
says "gdr run: software NIC: opened soft0, soft1, 0 queue pairs, 0 B; loaded libibverbs; software GPU" \
  -- ibv_devinfo
says "${unused}it loaded libibverbs and opened no device" -- ibv_devices
# Another one, by its full path; a process that is gone before anybody looks says so itself.
library=$(ldconfig -p | sed -n 's/.*libibverbs\.so\.1 .*=> //p' | head -n 1)
if command -v python3 >/dev/null && [ -n "$library" ]; then
  for pause in 0 4; do
    says "${unused}it loaded another libibverbs (by its full path, its own RPATH, or in a process" \
      -- env -u LD_LIBRARY_PATH python3 -c "
import ctypes, time
ctypes.CDLL('$library')
time.sleep($pause)"
  done
fi
if command -v ucx_info >/dev/null; then
  says "UCX; software GPU" -- ucx_info -d
fi
echo "every last line right"
