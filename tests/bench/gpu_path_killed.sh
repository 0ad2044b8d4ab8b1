#!/bin/sh
# gpu_path_killed.sh GDR PROGRAM: where one process of bench_gpu_path is killed, the others end too.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
[ -r "/proc/$$/task/$$/children" ] ||
  { echo "skipped: this kernel does not list children (CONFIG_PROC_CHILDREN)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

children_of() { cat "/proc/$1/task/$1/children" 2>/dev/null || true; }
is_running() { case $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null || true) in ""|Z|X) false ;; esac; }

# The program becomes `gdr run`'s process. Its two children, when it measures.
start() {
  "$gdr" run --soft-nic --soft-gpu -- "$program" --sizes 4K --seconds 60 >"$work/out" 2>"$work/err" &
  parent=$!
  for _ in $(seq 300); do
    ! grep -q "^size" "$work/out" || break
    sleep 0.1
  done
  # shellcheck disable=SC2046
  set -- $(children_of "$parent")
  [ $# = 2 ] || fail "$# children: $(cat "$work/out" "$work/err")"
  first=$1
  second=$2
}

expect_all_ended() {
  for _ in $(seq 100); do
    is_running "$parent" || is_running "$first" || is_running "$second" || return 0
    sleep 0.1
  done
  kill -9 "$parent" "$first" "$second" 2>/dev/null || true
  fail "still running 10 s after $1 was killed"
}

gdr=$1
program=$2
start
kill -9 "$first"
expect_all_ended "the peer"
wait "$parent" && fail "exit status 0 without a peer"
# That another of its processes ended, or what of a transfer with it was seen first.
grep -q "^bench_gpu_path: ." "$work/err" || fail "no line says why"
start
kill -9 "$parent"
expect_all_ended "the measuring process"
