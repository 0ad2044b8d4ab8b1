#!/bin/sh
# two_processes.sh GDR PATTERN PROGRAM ARGS...: runs PROGRAM twice on the software NIC, a server and
# then a client. Passes when both exit with 0, what the client prints matches PATTERN (grep -E), and
# neither complains about its data.
set -eu
gdr=$1
pattern=$2
program=$3
shift 3
# shellcheck source=tests/programs/pair.sh
. "$(dirname "$0")/pair.sh"

start_pair "$@"
finish_pair
grep -Eq "$pattern" "$work/client" || fail "the client printed nothing that matches '$pattern'"
# The ping-pong programs exit with 0 even then.
! grep -Eiq 'invalid data|failed|error' "$work/client" "$work/server" || fail "an error was printed"
cat "$work/client"
