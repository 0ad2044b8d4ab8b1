# Sourced: a program of the field twice on the software NIC, a server and then a client, which is
# given the server's address as its last argument. Both are bounded in time and gone, by process id,
# when the script ends.
#
#   gdr=... program=... [run_options=--quiet]
#   start_pair ARGS...    $server and $client are their timeout(1)s from then on
#   finish_pair           fails unless both exit with 0; what they printed is in $work
# shellcheck shell=sh
limit=600 # seconds for each process
command -v "${program:?}" >/dev/null ||
  { echo "skipped: $program is not installed (Debian: perftest, ibverbs-utils)"; exit 77; }

work=$(mktemp -d)
server=
client=
cleanup() {
  [ -z "$client" ] || kill -KILL "$client" 2>/dev/null || true
  [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() {
  echo "FAILED: $*"
  for side in server client; do
    [ ! -s "$work/$side" ] || { echo "--- $side:"; cat "$work/$side"; }
  done
  exit 1
}

# State 0A is LISTEN; the address is HEX:PORT, in IPv4 or IPv6 form.
listening() {
  grep -qs "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
}

# A port that nobody listens on, different from one test to the next that runs beside this one.
choose_port() {
  port=$((20000 + ($$ * 7 + $1 * 331) % 12000))
  ! listening "$port"
}

# Starts the server; false when it ended before it listened, as it does when its port was taken.
start_server() {
  # shellcheck disable=SC2086  # options, or none
  timeout -k 2 "$limit" "${gdr:?}" run ${run_options-} --soft-nic --no-soft-gpu -- \
    "$program" -p "$port" "$@" >"$work/server" 2>&1 &
  server=$!
  waited=0
  until listening "$port"; do
    kill -0 "$server" 2>/dev/null || return 1
    waited=$((waited + 1))
    [ "$waited" -lt 2000 ] || fail "$program did not listen within 100 seconds"
    sleep 0.05
  done
}

start_pair() {
  attempt=0
  until choose_port "$attempt" && start_server "$@"; do
    attempt=$((attempt + 1))
    [ "$attempt" -lt 5 ] || fail "$program does not start as a server"
  done
  # shellcheck disable=SC2086  # options, or none
  timeout -k 2 "$limit" "$gdr" run ${run_options-} --soft-nic --no-soft-gpu -- \
    "$program" -p "$port" "$@" 127.0.0.1 >"$work/client" 2>&1 &
  client=$!
}

finish_pair() {
  client_status=0
  wait "$client" || client_status=$?
  client=
  server_status=0
  wait "$server" || server_status=$?
  server=
  [ "$client_status" -eq 0 ] || fail "the client's exit status is $client_status"
  [ "$server_status" -eq 0 ] || fail "the server's exit status is $server_status"
}
