#!/bin/sh
# run.sh SECONDS FUZZER OPTIONS...: runs a fuzzer for so long, or for GDR_FUZZ_SECONDS where that is set
# (./test --full gives each one a minute).
set -eu
seconds=${GDR_FUZZ_SECONDS:-$1}
shift
exec "$@" "-max_total_time=$seconds"
