#!/bin/sh
# The program that ./gdr builds first proves as gdr does, and its commands have the same help.
# first.sh GDR FOLDER-OF-THE-SOURCES
set -eu
gdr=$1
first=$(dirname "$gdr")/gdr-first
fail() { echo "FAILED: $*"; exit 1; }
for command in prove perf; do
  "$first" "$command" --help >/dev/null || fail "$command is not there"
  [ "$("$first" "$command" --help)" = "$("$gdr" "$command" --help)" ] || fail "$command has another help"
done
said=$("$first" prove --soft --no-measure --modes write,send --sizes 64) || fail "prove ends with $?: $said"
case $said in *"SIMULATION PASSED"*) ;; *) fail "not proved: $said" ;; esac
said=$("$first" perf --soft --memory host --measure latency --sizes 8 --duration 50ms) || fail "perf ends with $?: $said"
status=0
said=$("$first" doctor 2>&1) || status=$?
[ "$status" -eq 2 ] || fail "doctor ends with $status: $said"
