#!/bin/sh
# gdr run shows a render node for each software GPU, each way it has, and programs get dma-bufs from
# it; a node of the machine's own stays what it is.
set -eu
gdr=$1
here=$(dirname "$0")
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
unset GDR_SOFT_DEVICES GDR_SOFT_GPUS GDR_PRESENCE GDR_RENDER_FIRST LD_PRELOAD LD_LIBRARY_PATH
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
if [ -e /dev/dri ]; then
  echo "skipped: this machine has graphics devices of its own"
  exit 77
fi
fail() { echo "FAILED: $*: $(cat "$work/out" "$work/err")"; exit 1; }

# run WAY COMMAND...: two lines of gdr run's own in $work/err.
run() {
  way=$1
  shift
  "$gdr" run --soft-nic --soft-gpu --presence "$way" -- "$@" >"$work/out" 2>"$work/err" || fail "$way: $*"
}
prints() { [ "$(cat "$work/out")" = "$1" ] || fail "$way: not '$1'"; }

before=$(ls /dev)
ways=preload
if unshare -m true 2>/dev/null; then ways="preload namespace"; fi
for way in $ways; do
  run "$way" ls /dev/dri
  prints "renderD128
renderD129"
  run "$way" python3 "$here/render_node.py" /dev/dri/renderD129
  prints works
  grep -q "; software GPUs as /dev/dri/renderD128 and up$" "$work/err" || fail "$way: not said"
  tail -n 1 "$work/err" | grep -q "software GPU: used" || fail "$way: not counted as used"
  # As many as there are software GPUs, and within another gdr run the same.
  GDR_SOFT_GPUS=1:64M run "$way" sh -c 'ls /dev/dri; [ ! -e /dev/dri/renderD129 ]'
  prints renderD128
  run "$way" "$gdr" run --soft-nic --soft-gpu --presence "$way" -- \
    python3 "$here/render_node.py" /dev/dri/renderD128
  prints works
  "$gdr" run --soft-nic --no-soft-gpu --presence "$way" -- sh -c '[ ! -e /dev/dri ]' \
    2>"$work/err" || fail "$way, --no-soft-gpu: shown"
done
run none python3 -c '
import os
try:
    os.open("/dev/dri/renderD128", os.O_RDWR)
except FileNotFoundError:
    print("nothing")'
prints nothing

# Beside a node that a driver of the machine has made, which stays.
if [ "$ways" != preload ]; then
  for way in $ways; do
    unshare -m sh -eu -c "
      mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && mkdir /dev/dri
      echo real >/dev/dri/renderD128
      '$gdr' run --soft-nic --soft-gpu --presence $way -- sh -c '
        cat /dev/dri/renderD128; ls /dev/dri | tr \"\\n\" \" \"
        python3 $here/render_node.py /dev/dri/renderD129'" \
      >"$work/out" 2>"$work/err" || fail "beside a real node"
    prints "real
renderD128 renderD129 renderD130 works"
  done
fi
[ "$(ls /dev)" = "$before" ] || fail "the machine's /dev has changed"
