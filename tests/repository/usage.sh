#!/bin/sh
# Wrong use is one line on standard error that names the word and what is allowed, and exit status 2.
set -eu
gdr=$2/bin/gdr
failed=0

expect_wrong_use() {
  expected=$1
  shift
  status=0
  output=$("$gdr" "$@" 2>&1 >/dev/null) || status=$?
  if [ "$status" -ne 2 ]; then
    echo "gdr $*: exit status $status instead of 2"
    failed=1
  fi
  case $output in
    *"
"*) echo "gdr $*: more than one line: $output"; failed=1 ;;
    *"$expected"*) ;;
    *) echo "gdr $*: '$expected' is not in '$output'"; failed=1 ;;
  esac
}

expect_wrong_use "no subcommand given; allowed: "
expect_wrong_use "unknown subcommand 'prov'; allowed: " prov
expect_wrong_use "unknown option '--frobnicate'; allowed: --help, --version" --frobnicate
expect_wrong_use "gdr prove: unknown option '--sise'; allowed: --help, --gpu" prove --sise 1
expect_wrong_use "unknown mode 'telepathy'; allowed: " prove --modes telepathy
expect_wrong_use "gdr prove: unexpected argument 'now'" prove now
expect_wrong_use "gdr run: unknown option '--softnic'; allowed: --help, --soft-nic" run --softnic -- true
expect_wrong_use "gdr run: no PROGRAM" run
expect_wrong_use "gdr run: no PROGRAM" run --soft-nic --
expect_wrong_use "gdr run: --no-soft-nic excludes --pcap" run --no-soft-nic --pcap x -- true
expect_wrong_use "gdr run: --counters: 1 required FILE missing" run --counters -- true
expect_wrong_use "gdr perf: unknown option '--sise'; allowed: --help, --server" perf --sise 1
expect_wrong_use "unknown --operation 'push'; allowed: write, write-imm, read" perf --operation push
expect_wrong_use "--soft and --require-hardware exclude each other" perf --soft --require-hardware
expect_wrong_use "--numa and --cpu exclude each other" perf --numa 0 --cpu 1
expect_wrong_use "--numa 999: no such node" perf --numa 999
expect_wrong_use "--server and a host exclude each other" perf --server node7
expect_wrong_use "gdr perf compare: /nowhere: No such file" perf compare /nowhere /nowhere
expect_wrong_use "gdr counters: FILE is required" counters
expect_wrong_use "gdr counters: /nowhere: No such file" counters /nowhere
expect_wrong_use "gdr counters: $0: no file of counters" counters "$0"
expect_wrong_use "gdr explain: no symptom 'x'; 'gdr explain --list'" explain --symptom x
expect_wrong_use "gdr explain: /nowhere: No such file" explain /nowhere
expect_wrong_use "gdr explain: FILE goes with neither" explain --list /nowhere
expect_wrong_use "gdr nccl: no subcommand given; allowed: check, run" nccl
expect_wrong_use "gdr nccl: unknown subcommand 'chek'; allowed: check, run" nccl chek
expect_wrong_use "gdr nccl check: FILE is required" nccl check
expect_wrong_use "gdr nccl check: /nowhere: No such file" nccl check /nowhere
expect_wrong_use "gdr nccl check: $0: no message of NCCL in " nccl check "$0"
expect_wrong_use "gdr nccl check: unknown expectation 'luck'; allowed: " nccl check --expect luck -
expect_wrong_use "gdr nccl run: no PROGRAM" nccl run --tee --
expect_wrong_use "gdr nccl run: unknown option '--soft-nic'; allowed: --help, --expect" \
  nccl run --soft-nic -- true
expect_wrong_use "gdr nccl run: /nowhere/x: No such file" nccl run --log /nowhere/x -- true

# Wrong values in the environment, for whatever uses the stand-ins.
export GDR_SOFT_DEVICES=/
expect_wrong_use "gdr prove: GDR_SOFT_DEVICES" prove --soft
expect_wrong_use "gdr run: GDR_SOFT_DEVICES" run --soft-nic --no-soft-gpu -- true
unset GDR_SOFT_DEVICES
export GDR_SOFT_PATH=pigeons
expect_wrong_use "gdr prove: GDR_SOFT_PATH='pigeons': allowed are auto and packets" prove --soft
expect_wrong_use "gdr run: GDR_SOFT_PATH='pigeons'" run --soft-nic --no-soft-gpu -- true
unset GDR_SOFT_PATH
soft="run --soft-nic --no-soft-gpu"
# shellcheck disable=SC2086  # three words
{
expect_wrong_use "GDR_SOFT_FAULTS: 'loss=2': allowed are loss=" $soft --faults loss=2 -- true
expect_wrong_use "GDR_SOFT_PCAP=$0: the file is there and is no capture" $soft --pcap "$0" -- true
expect_wrong_use "GDR_SOFT_PCAP=/nowhere/x: No such file" $soft --pcap /nowhere/x -- true
expect_wrong_use "GDR_SOFT_COUNTERS=$0: the file is there and holds no counters" \
  $soft --counters "$0" -- true
# Not an address of any host: 192.0.2.0/24 is for documentation (RFC 5737).
export GDR_SOFT_DEVICES=soft0/ip=192.0.2.77
expect_wrong_use "UDP port 4791 of 192.0.2.77: Cannot assign requested address; set ip=" $soft -- true
unset GDR_SOFT_DEVICES
}
export GDR_SOFT_GPUS=0
expect_wrong_use "gdr prove: GDR_SOFT_GPUS=0" prove --soft
expect_wrong_use "gdr run: GDR_SOFT_GPUS=0" run --soft-nic --soft-gpu -- true
unset GDR_SOFT_GPUS
export GDR_SOFT_DMA_BUF=1
expect_wrong_use "gdr run: GDR_SOFT_DMA_BUF=1: expected anonymous" run --soft-nic --soft-gpu -- true
unset GDR_SOFT_DMA_BUF

"$gdr" --version | grep -Eq '^gdr [0-9]+\.[0-9]+\.[0-9]+$' || { echo "--version"; failed=1; }
for subcommand in '' prove run counters nccl 'nccl check' 'nccl run'; do
  # shellcheck disable=SC2086  # none or two words
  "$gdr" $subcommand --help | grep -q '^Usage: gdr' || { echo "$subcommand --help"; failed=1; }
done
exit $failed
