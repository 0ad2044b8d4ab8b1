#!/bin/sh
# watch.sh GDR: gdr watch around transfers with a real GPU's memory on the software NIC: "direct" where
# the NIC has GPU memory, "staged" where a copy goes before, as each is meant. Ends with 77 where no GPU is.
gdr=${1:-bin/gdr}
[ -e /dev/nvidiactl ] || { echo "skipped: no NVIDIA GPU"; exit 77; }
failed=0

# expect VERDICT STATUS COMMAND...
expect() {
  verdict=$1
  wanted=$2
  shift 2
  report=$(mktemp --suffix=.json)
  timeout 120 "$gdr" watch --report "$report" -- "$@" >"$report.out" 2>&1
  status=$?
  if [ "$status" -ne "$wanted" ] || ! grep -q "\"verdict\": \"$verdict\"" "$report"; then
    echo "FAILED: $*: exit status $status, and not $verdict:"
    cat "$report.out"
    failed=1
  else
    grep '^gdr watch' "$report.out"
  fi
  # The GPU's own address, and not the software GPU's.
  if [ "$verdict" = direct ] && ! grep -Eq '"gpu": "[0-9a-f]{4}:[0-9a-f]{2}:' "$report"; then
    echo "FAILED: $*: no address of the GPU in the report"
    failed=1
  fi
  rm -f "$report" "$report.out"
}

perf="$gdr perf --sizes 64K,8M --measure bandwidth --duration 0.5"
# shellcheck disable=SC2086  # words
{
  expect direct 0 $perf --memory gpu
  expect direct 0 $perf --memory gpu-vmm
  expect direct 0 $perf --memory gpu --operation read,send
  expect staged 0 $perf --memory staged
  expect host 0 $perf --memory host
}
# Its NIC is a stand-in on a machine that has a GPU: 3.
expect direct 3 "$gdr" prove --no-measure --modes write,read
[ "$failed" -eq 0 ] && echo ok
exit "$failed"
