#!/bin/sh
# run.sh SECONDS FUZZER OPTIONS...: runs a fuzzer for so long, or for GDR_FUZZ_SECONDS where that is set
# (./test --full gives each one a minute).
set -eu
seconds=${GDR_FUZZ_SECONDS:-$1}
shift
if [ ! -x "$1" ]; then
  echo "skipped: only ./test --full builds this fuzzer (target long_tests)"
  exit 77
fi
exec "$@" "-max_total_time=$seconds"
