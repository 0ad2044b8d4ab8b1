#!/bin/sh
# gdr run: what the started program is given, and what comes back from it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fixtures=$2
mkdir -p "$work/bin" "$work/lib/gdrkit/soft-nic" "$work/lib/gdrkit/soft-gpu"
cp "$1" "$work/bin/gdr"
cp "$fixtures/stand_in/libibverbs.so.1" "$work/lib/gdrkit/soft-nic"
cp "$fixtures/stand_in/libibverbs.so.1" "$work/lib/gdrkit/soft-gpu/libcuda.so.1"
cat >"$work/lib/gdrkit/soft-nic/check-configuration" <<'CHECK'
#!/bin/sh
[ "${GDR_SOFT_FAULTS:-}" != wrong ] || { echo "GDR_SOFT_FAULTS: 'wrong' is wrong"; exit 2; }
[ "${GDR_SOFT_DEVICES:-}" != wrong ] || { echo "GDR_SOFT_DEVICES: 'wrong' is wrong"; exit 2; }
CHECK
chmod +x "$work/lib/gdrkit/soft-nic/check-configuration"
gdr=$work/bin/gdr
unset LD_LIBRARY_PATH LD_PRELOAD NCCL_NET_GDR_LEVEL NCCL_GIN_TYPE NCCL_IB_GID_INDEX GDR_SOFT_DEVICES GDR_SOFT_GPUS
unset GDR_SOFT_PATH GDR_SOFT_PCAP GDR_SOFT_FAULTS GDR_SOFT_COUNTERS GDR_SOFT_DMA_BUF GDR_OBSERVE

fail() { echo "FAILED: $*"; exit 1; }

# expect STATUS OUT ERR COMMAND...: exit status, standard output, and a part of standard error.
expect() {
  expected_status=$1
  expected_out=$2
  expected_err=$3
  shift 3
  status=0
  out=$("$@" 2>"$work/err") || status=$?
  err=$(cat "$work/err")
  [ "$status" -eq "$expected_status" ] || fail "$*: exit status $status, not $expected_status: $err"
  [ "$out" = "$expected_out" ] || fail "$*: printed '$out', not '$expected_out'"
  case $err in
    *"$expected_err"*) ;;
    *) fail "$*: no '$expected_err' in '$err'" ;;
  esac
}
soft="--soft-nic --no-soft-gpu"

# What is loaded. LD_LIBRARY_PATH alone would lose to DT_RPATH.
[ "$("$fixtures/run_fixture_rpath")" = other ] || fail "the fixture does not find its own library"
# shellcheck disable=SC2086  # two options
{
expect 0 stand-in "set LD_LIBRARY_PATH, NCCL" "$gdr" run $soft -- "$fixtures/run_fixture_runpath"
expect 0 stand-in "set LD_LIBRARY_PATH, LD_PRELOAD, NCCL" "$gdr" run $soft -- "$fixtures/run_fixture_rpath"

# What is set, and that the user's own values stay.
expect 0 "SYS 0 3" "software NIC" "$gdr" run $soft -- \
  sh -c 'echo "$NCCL_NET_GDR_LEVEL $NCCL_GIN_TYPE $NCCL_IB_GID_INDEX"'
expect 0 "2" "kept your NCCL_IB_GID_INDEX=2" env NCCL_IB_GID_INDEX=2 \
  "$gdr" run $soft -- sh -c 'echo "$NCCL_IB_GID_INDEX"'
expect 0 "PIX 0" "kept your NCCL_NET_GDR_LEVEL=PIX" env NCCL_NET_GDR_LEVEL=PIX \
  "$gdr" run $soft -- sh -c 'echo "$NCCL_NET_GDR_LEVEL $NCCL_GIN_TYPE"'
expect 0 "$work/lib/gdrkit/soft-nic:/before" "" env LD_LIBRARY_PATH=/before \
  "$gdr" run $soft -- sh -c 'echo "$LD_LIBRARY_PATH"'
expect 0 "$work/a.pcap $work/c loss=0 packets" "GDR_SOFT_PCAP=$work/a.pcap" env GDR_SOFT_PCAP=other \
  sh -c 'cd "$0" && exec "$@"' "$work" \
  "$gdr" run $soft --pcap a.pcap --counters=c --faults loss=0 --packets sh -c \
  'echo "$GDR_SOFT_PCAP $GDR_SOFT_COUNTERS $GDR_SOFT_FAULTS $GDR_SOFT_PATH"'
expect 0 "--help -- x" "" "$gdr" run $soft -- echo --help -- x
[ "$(wc -l <"$work/err")" -eq 2 ] || fail "not one line at either end: $(cat "$work/err")"
expect 0 x "" "$gdr" run $soft --quiet -- echo x
[ ! -s "$work/err" ] || fail "--quiet says: $(cat "$work/err")"
# Without standard descriptors, which it then has none of either.
expect 0 "" "" sh -c '"$@" <&- >&- 2>&-' sh "$gdr" run $soft -- \
  sh -c 'for fd in 0 1 2; do [ ! -e /proc/$$/fd/$fd ] || exit 1; done; echo ran >"$0"' "$work/ran"
[ "$(cat "$work/ran")" = ran ] || fail "not run without standard descriptors"
# What the program did is said at its end, and nothing of it in its output.
expect 0 "out" "gdr run: this program did not use the software NIC: it loaded no libibverbs" \
  "$gdr" run $soft -- echo out

# The observer of dma-bufs, where the software GPU's tell nothing.
cp "$work/lib/gdrkit/soft-nic/check-configuration" "$work/lib/gdrkit/soft-gpu"
observing="env GDR_SOFT_DMA_BUF=anonymous $gdr run --soft-nic --soft-gpu"
expect 2 "" "observe/libgdr-observe.so is missing" $observing -- true
mkdir "$work/lib/gdrkit/observe"
cp "$fixtures/stand_in/libibverbs.so.1" "$work/lib/gdrkit/observe/libgdr-observe.so"
expect 0 "$work/lib/gdrkit/observe/libgdr-observe.so" "LD_PRELOAD (observes dma-bufs), " \
  $observing -- sh -c 'echo "$LD_PRELOAD"'
expect 0 "" "; dma-bufs not observed: GDR_OBSERVE=0" env GDR_OBSERVE=0 \
  $observing -- sh -c 'echo "${LD_PRELOAD:-}"'

# What comes back.
expect 3 "" "" "$gdr" run $soft -- sh -c 'exit 3'
expect 127 "" "gdr run: no-such-program: not found" "$gdr" run $soft -- no-such-program
expect 126 "" "gdr run: /etc/passwd: not an executable file" "$gdr" run $soft -- /etc/passwd
# A program says that it is there by a file, which `await` waits for.
export READY="$work/ready"
export await='until [ -e "$READY" ]; do sleep 0.05; done; rm "$READY"'
expect 143 "" "" sh -c '"$@" & child=$!; eval "$await"; kill -TERM $child; wait $child' sh \
  "$gdr" run $soft -- sh -c ': >"$READY"; exec sleep 300'
# As by the program itself, a signal ends gdr run: a shell says so, and SIGSEGV is no status of exit.
expect 139 "" "" sh -c '"$@"; exit $?' sh "$gdr" run $soft -- sh -c 'kill -SEGV $$'
expect 0 "caught" "" sh -c '"$@" & child=$!; eval "$await"; kill -USR1 $child; wait $child' sh \
  "$gdr" run $soft -- sh -c 'trap "echo caught; exit 0" USR1; : >"$READY"; while :; do sleep 0.05; done'
# One that is sent to all of a process group, as a launcher does, reaches the program once.
counts='n=0; trap "n=\$((n + 1))" USR1; : >"$READY"; i=0; while [ $i -lt 30 ]; do sleep 0.05; i=$((i + 1)); done; echo $n'
expect 0 "1" "" setsid --wait sh -c '"$@" & eval "$await"; trap "" USR1; kill -USR1 0; wait' sh \
  "$gdr" run $soft -- sh -c "$counts"
expect 0 "1" "" sh -c '"$@" & child=$!; eval "$await"; kill -USR1 $child; wait $child' sh \
  "$gdr" run $soft -- sh -c "$counts"
# A program that stops has stopped gdr run, and goes on with it.
expect 5 "stopped" "" sh -c '"$@" & run=$!; eval "$await"
  state() { sed "s/.*) \(.\).*/\1/" /proc/$run/stat; }
  [ "$(state)" != T ] || exit 1
  waited=0; kill -CONT $run; kill -USR1 $run
  until [ "$(state)" = T ]; do sleep 0.05; waited=$((waited + 1)); [ $waited -lt 2000 ] || exit 2; done
  echo stopped; kill -CONT $run; wait $run' sh \
  "$gdr" run $soft -- sh -c 'trap "kill -STOP \$\$; exit 5" USR1; : >"$READY"; while :; do sleep 0.05; done'
# A gdr run that is killed takes the program along.
expect 0 "" "" sh -c '"$@" & run=$!; until read -r program <"$0"; do sleep 0.05; done 2>/dev/null; kill -0 "$program" || exit 1
  kill -KILL $run; waited=0
  while kill -0 "$program" 2>/dev/null; do
    grep -q ") Z" "/proc/$program/stat" && exit 0
    sleep 0.05; waited=$((waited + 1)); [ $waited -lt 2000 ] || exit 2
  done' "$work/pid" \
  "$gdr" run $soft -- sh -c 'echo $$ >"$0"; exec sleep 300' "$work/pid"

# What is refused.
expect 2 "" "--soft-nic and --no-soft-nic exclude each other" "$gdr" run --soft-nic --no-soft-nic -- true
expect 2 "" "--soft-gpu and --no-soft-gpu exclude each other" "$gdr" run --no-soft-gpu --soft-gpu -- true
expect 2 "" "GDR_SOFT_DEVICES: 'wrong' is wrong" env GDR_SOFT_DEVICES=wrong "$gdr" run $soft -- true
expect 2 "" "GDR_SOFT_FAULTS: 'wrong' is wrong" "$gdr" run $soft --faults wrong -- true
expect 0 "" "" env GDR_SOFT_DEVICES=right "$gdr" run $soft -- true
rm "$work/lib/gdrkit/soft-nic/libibverbs.so.1"
expect 2 "" "soft-nic/libibverbs.so.1 is missing" "$gdr" run $soft -- true
}
