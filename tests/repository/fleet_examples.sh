#!/bin/sh
# Whatever acts on the exit status of gdr prove says --require-hardware: what sites install and each example
# of the pages does, and README, handbook and the commands' own help name it. (tests/clusters runs them; there
# is one copy of each.)
set -eu
docs=$1/docs
gdr=$2/bin/gdr
failed=0

# Scripts and units break long commands. A command in YAML is a list, which clusters.kubernetes judges.
examples=$({
  find "$1/packaging" -type f ! -name '*.yaml' -exec cat {} + | grep -v '^ *#' | sed -e ':a' -e '/\\$/N; s/\\\n//; ta'
  awk '/^```/ { inside = !inside; next } inside' "$docs/exit-status.md" "$docs/clusters.md"
} | grep -E 'gdr"? prove' | grep -v 'gdr prove ended') || { echo "no example at all"; exit 1; }
printf '%s\n' "$examples" | grep -v -- '--require-hardware' && { echo "without --require-hardware"; failed=1; }
[ "$(printf '%s\n' "$examples" | wc -l)" -ge 3 ] || { echo "fewer than three examples"; failed=1; }
for page in "$1/README.md" "$docs/prove.md" "$docs/handbook.md"; do
  grep -q -- 'gdr prove --require-hardware' "$page" || { echo "$page does not name it"; failed=1; }
done
for words in "--help" "prove --help"; do
  # shellcheck disable=SC2086  # two words
  "$gdr" $words | head -n 24 | grep -q -- 'gdr prove --require-hardware' ||
    { echo "gdr $words: not in the first 24 lines"; failed=1; }
done
# Each subcommand stands in the table of statuses.
for command in prove doctor "doctor capture" topo list fix "peermem status" explain "mpi check" "nccl check" "nccl run" perf run counters; do
  grep -q "^| \`gdr ${command}[ \`]" "$docs/exit-status.md" || { echo "no row for gdr $command"; failed=1; }
done
exit "$failed"
