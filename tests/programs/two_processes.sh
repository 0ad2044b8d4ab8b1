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

# Nobody sends a datagram again. One to a process that is busy, and so has not met the sender yet, is lost,
# and both wait for ever: such a pair is started again.
case " $* " in
  *" -c UD "*)
    limit=60
    for _ in 1 2 3 4; do
      start_pair "$@"
      await_pair
      [ "$client_status" -ne 124 ] && [ "$server_status" -ne 124 ] && break
    done
    ;;
  *) start_pair "$@" && await_pair ;;
esac
check_pair
grep -Eq "$pattern" "$work/client" || fail "the client printed nothing that matches '$pattern'"
# The ping-pong programs exit with 0 even then.
! grep -Eiq 'invalid data|failed|error' "$work/client" "$work/server" || fail "an error was printed"
cat "$work/client"
