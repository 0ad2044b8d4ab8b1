#!/bin/bash
# How long a newcomer waits: ./gdr prove and ./test, each as the first command in a clean clone in a
# fresh system (tests/repository/clean_chroot.sh), on two processors. Prints a line for each run.
#
#   scripts/time_two_commands.sh [--suites LIST] [--runs N] [COMMAND...]
#
# By default: bookworm,trixie, three runs of each, './gdr prove' and './test'. Needs root and
# debootstrap. The time of debootstrap is not counted, that of installing packages is.
set -euo pipefail

suites=bookworm,trixie
runs=3
while [ $# -gt 0 ]; do
  case $1 in
    --suites) suites=$2; shift 2 ;;
    --runs) runs=$2; shift 2 ;;
    -*) echo "time_two_commands: unknown option '$1'; allowed: --suites, --runs" >&2; exit 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || set -- './gdr prove' './test'

root=$(dirname "$(dirname "$(readlink -f "$0")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for suite in ${suites//,/ }; do
  for run in $(seq "$runs"); do
    for command in "$@"; do
      status=0
      # Seconds: of the clock, of the processors in the program and in the kernel.
      timed="begun=\$(date +%s); status=0; ( $command ) || status=\$?; echo \"@ \$((\$(date +%s) - begun))\"; times; exit \$status"
      taskset -c 0,1 "$root/tests/repository/clean_chroot.sh" --suite "$suite" --keep "$work/$suite" "$timed" \
        >"$work/output" 2>&1 || status=$?
      seconds=$(sed -n 's/^@ //p' "$work/output")
      processor=$(sed -n '/^@ /{n;n;p;}' "$work/output")
      echo "$suite, run $run, $command: ${seconds:-?} s, processor ${processor:-?}, exit status $status, load at the end $(cut -d ' ' -f 1 /proc/loadavg)"
      [ "$status" -eq 0 ] || tail -n 30 "$work/output"
    done
  done
done
