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
expect_wrong_use "gdr: unknown subcommand 'prov'; did you mean 'gdr prove'?" prov
expect_wrong_use "gdr: unknown subcommand 'telepathy'; allowed: prove, topo, list" telepathy
expect_wrong_use "unknown option '--frobnicate'; allowed: --help, --version" --frobnicate
expect_wrong_use "gdr prove: unknown option '--sise'; did you mean '--sizes'?" prove --sise 1
expect_wrong_use "gdr prove: unknown option '--telepathy'; allowed: --help, --require-hardware, --soft, --all" \
  prove --telepathy
expect_wrong_use "unknown mode 'telepathy'; allowed: " prove --modes telepathy
expect_wrong_use "gdr prove: unexpected argument 'later'" prove now later
expect_wrong_use "gdr run: unknown option '--softnic'; did you mean '--soft-nic'?" run --softnic -- true
expect_wrong_use "gdr run: no PROGRAM" run
expect_wrong_use "gdr run: no PROGRAM" run --soft-nic --
expect_wrong_use "gdr run: --no-soft-nic and --pcap exclude each other" run --no-soft-nic --pcap x -- true
expect_wrong_use "gdr run: --counters needs a value" run --counters -- true
expect_wrong_use "gdr perf: unknown option '--sise'; did you mean '--sizes'?" perf --sise 1
expect_wrong_use "unknown --operation 'push'; allowed: write, write-imm, read" perf --operation push
expect_wrong_use "--soft and --require-hardware exclude each other" perf --soft --require-hardware
expect_wrong_use "--numa and --cpu exclude each other" perf --numa 0 --cpu 1
expect_wrong_use "--numa 999: no such node" perf --numa 999
expect_wrong_use "--server and a host exclude each other" perf --server node7
expect_wrong_use "gdr perf compare: /nowhere: No such file" perf compare /nowhere /nowhere
expect_wrong_use "gdr perf compare: two or more JSON files are needed" perf compare /nowhere
expect_wrong_use "gdr perf: --depth must be a positive whole number, not '-1'" perf --depth=-1
expect_wrong_use "gdr perf: --depth 99999999999 is too large" perf --depth 99999999999
expect_wrong_use "gdr perf: --gpu needs a value" perf --gpu
expect_wrong_use "gdr prove: --gpu may be given only once" prove --gpu 0 --gpu 1
expect_wrong_use "gdr fabric: no launcher has started it; type 'srun -N16 gdr fabric'" fabric
expect_wrong_use "unknown pattern 'ring'; allowed: tournament, shift, bisection, by-leaf" fabric --pattern ring
expect_wrong_use "unknown memory 'vmm'; allowed: gpu, host" fabric --local 2 --memory vmm
expect_wrong_use "--local and --hosts exclude each other" fabric --local 2 --hosts n1,n2
expect_wrong_use "--soft and --require-hardware exclude each other" fabric --local 2 --soft --require-hardware
expect_wrong_use "--local 1: it takes 2 to 1024 processes" fabric --local 1
expect_wrong_use "--rounds 0: it takes a number from 1, or 'all'" fabric --local 2 --rounds 0
expect_wrong_use "--topology /nowhere: No such file" fabric --local 2 --topology /nowhere
expect_wrong_use "gdr fabric: two hosts or more are needed, and only n1 takes part" fabric --hosts n1 --ssh false
expect_wrong_use "gdr fabric compare: two files are needed" fabric compare /nowhere
expect_wrong_use "gdr fabric compare: /nowhere: No such file" fabric compare /nowhere /nowhere
expect_wrong_use "gdr fabric compare: $0: " fabric compare "$0" "$0"
expect_wrong_use "gdr counters: /nowhere: No such file" counters /nowhere
expect_wrong_use "gdr counters: $0: not a file of counters" counters "$0"
expect_wrong_use "gdr list: unknown option '--jsn'; did you mean '--json'?" list --jsn
expect_wrong_use "gdr list: no folder /nowhere; give a folder that holds" list --root /nowhere
expect_wrong_use "gdr list: $0: is not a readable tar archive" list --root "$0"
expect_wrong_use "gdr doctor: $0: is not a readable tar archive" doctor --root "$0"
expect_wrong_use "gdr doctor: --report: 'x.pdf' does not end in .json or .html or .md or .prom; type: --report x.html" \
  doctor --report x.pdf
expect_wrong_use "gdr explain: unknown symptom 'x'; 'gdr explain --list'" explain --symptom x
expect_wrong_use "gdr explain: /nowhere: No such file" explain /nowhere
expect_wrong_use "gdr explain: FILE does not work with --list, --symptom, --search or --check-symptoms" explain --list /nowhere
expect_wrong_use "gdr nccl: no subcommand given; allowed: check, run" nccl
expect_wrong_use "gdr mpi: no subcommand given; allowed: check" mpi
expect_wrong_use "gdr mpi check: /nowhere: no such file; " mpi check /nowhere
expect_wrong_use "--timeout must be a number of seconds from 1 to 600, not '0'" mpi check --timeout 0
expect_wrong_use "gdr nccl: unknown subcommand 'chek'; did you mean 'gdr nccl check'?" nccl chek
expect_wrong_use "gdr nccl check: FILE is required" nccl check
expect_wrong_use "gdr nccl check: /nowhere: No such file" nccl check /nowhere
expect_wrong_use "gdr nccl check: $0: no NCCL output found in " nccl check "$0"
expect_wrong_use "gdr nccl check: unknown expectation 'luck'; allowed: " nccl check --expect luck -
expect_wrong_use "gdr nccl run: no PROGRAM" nccl run --tee --
expect_wrong_use "gdr nccl run: unknown option '--soft-nic'; allowed: --help, --expect" \
  nccl run --soft-nic -- true
expect_wrong_use "gdr peermem: no subcommand given; allowed: status, build, install, remove" peermem
expect_wrong_use "gdr peermem status: no folder /nowhere; give a folder that holds" \
  peermem status --root /nowhere
expect_wrong_use "gdr peermem build: --driver-module and --driver-source exclude each other" \
  peermem build --driver-module x --driver-source y
expect_wrong_use "gdr peermem build: /nowhere.ko: no such file" peermem build --driver-module /nowhere.ko
expect_wrong_use "gdr peermem build: /nowhere has no nv-p2p.h" peermem build --driver-source /nowhere
expect_wrong_use "gdr peermem status: --kernel needs a release" peermem status --kernel ../x
expect_wrong_use "gdr peermem install: $0 is not an ELF file" peermem install "$0"
expect_wrong_use "gdr peermem install: /nowhere.ko: no such file; build it first" peermem install /nowhere.ko
expect_wrong_use "gdr peermem install: --key and --cert belong together" peermem install --key x
expect_wrong_use "gdr peermem remove: --journal needs an absolute path" peermem remove --journal x
expect_wrong_use "gdr watch: no PROGRAM" watch
expect_wrong_use "gdr watch: unknown option '--soft-nic'; allowed: --help, --expect, --json, --report, --quiet" \
  watch --soft-nic -- true
expect_wrong_use "unknown expectation 'luck'; allowed: gdr, rdma" watch --expect luck -- true
expect_wrong_use "gdr nccl run: /nowhere/x: No such file" nccl run --log /nowhere/x -- true

# Wrong values in the environment, for whatever uses the stand-ins.
export GDR_SOFT_DEVICES=/
expect_wrong_use "gdr prove: GDR_SOFT_DEVICES" prove --soft
expect_wrong_use "gdr list: GDR_SOFT_DEVICES" list --soft
expect_wrong_use "gdr run: GDR_SOFT_DEVICES" run --soft-nic --no-soft-gpu -- true
unset GDR_SOFT_DEVICES
export GDR_SOFT_PATH=pigeons
expect_wrong_use "gdr prove: GDR_SOFT_PATH='pigeons': allowed are auto and packets" prove --soft
expect_wrong_use "gdr run: GDR_SOFT_PATH='pigeons'" run --soft-nic --no-soft-gpu -- true
unset GDR_SOFT_PATH
soft="run --soft-nic --no-soft-gpu"
mine=$(mktemp)
echo "no capture and no counters" >"$mine"
link=$mine.link
ln -s "$mine" "$link"
# shellcheck disable=SC2086  # three words
{
expect_wrong_use "GDR_SOFT_FAULTS: 'loss=2': allowed are loss=" $soft --faults loss=2 -- true
expect_wrong_use "GDR_SOFT_PCAP=$mine: the file exists but is not a capture" $soft --pcap "$mine" -- true
expect_wrong_use "GDR_SOFT_PCAP=$link is a symbolic link" $soft --pcap "$link" -- true
expect_wrong_use "GDR_SOFT_COUNTERS=$link is a symbolic link" $soft --counters "$link" -- true
expect_wrong_use "GDR_SOFT_PCAP=/nowhere/x: No such file" $soft --pcap /nowhere/x -- true
expect_wrong_use "GDR_SOFT_COUNTERS=$mine: the file exists but holds no counters" \
  $soft --counters "$mine" -- true
# Not an address of any host: 192.0.2.0/24 is for documentation (RFC 5737).
export GDR_SOFT_DEVICES=soft0/ip=192.0.2.77
expect_wrong_use "UDP port 4791 of 192.0.2.77: Cannot assign requested address; set ip=" $soft -- true
unset GDR_SOFT_DEVICES
}
# Another account's link in a folder that all may write, such as /tmp.
if [ "$(id -u)" -eq 0 ]; then
  shared=$(mktemp -d)
  chmod 1777 "$shared"
  for name in link link.json link.csv link.html; do
    ln -s "$mine" "$shared/$name"
    chown -h 12345 "$shared/$name"
  done
  foreign="the link 'link' belongs to another account"
  expect_wrong_use "$shared/link: $foreign" nccl run --log "$shared/link" -- true
  for name in link.json link.csv link.html; do
    expect_wrong_use "$shared/$name: the link '$name' belongs to another account" \
      perf --soft --report "$shared/$name"
  done
  rm -r "$shared"
fi
rm -f "$mine" "$link"
export GDR_SOFT_GPUS=0
expect_wrong_use "gdr prove: GDR_SOFT_GPUS=0" prove --soft
expect_wrong_use "gdr run: GDR_SOFT_GPUS=0" run --soft-nic --soft-gpu -- true
unset GDR_SOFT_GPUS
export GDR_SOFT_DMA_BUF=1
expect_wrong_use "gdr run: GDR_SOFT_DMA_BUF=1: expected anonymous or udmabuf" run --soft-nic --soft-gpu -- true
unset GDR_SOFT_DMA_BUF

# Whatever an argument holds, the message is one line that no terminal obeys and that reads as it is
# written: ESC, a line's end, C1 (U+009B), a direction of writing (U+202E), a zero width (U+200B).
evil=$(printf 'a\033[2Jb\nc\302\233d\342\200\256e\342\200\213f\377g')
unprintable=$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]\|\342\200[\213\250-\256]\|\377')
expect_printable() {
  status=0
  "$@" >"$evil_output" 2>"$evil_output.error" || status=$?
  if [ "$status" -eq 0 ]; then
    echo "$* : exit status 0" | od -c | head -5
    failed=1
  fi
  if [ "$(wc -l <"$evil_output.error")" -gt 1 ] ||
    LC_ALL=C grep -q "$unprintable" "$evil_output" "$evil_output.error"; then
    echo "$2 ${3-}: not one printable line: $(od -c "$evil_output.error" | head -20)"
    failed=1
  fi
}
evil_output=$(mktemp)
expect_printable "$gdr" "$evil"
expect_printable "$gdr" "--$evil"
for subcommand in prove perf topo doctor fix explain counters 'mpi check' 'nccl check' 'perf compare' fabric \
  'fabric compare' 'doctor capture'; do
  # shellcheck disable=SC2086  # one word or two
  {
  expect_printable "$gdr" $subcommand "--$evil"
  expect_printable "$gdr" $subcommand "$evil" "$evil"
  }
done
for words in 'prove --modes' 'prove --sizes' 'prove --gpu' 'perf --operation' 'perf --sizes' \
  'perf --cpu' 'perf --duration' 'fabric --pattern' 'fabric --local' 'fabric --local 2 --topology' \
  'fabric --local 2 --duration' 'fabric compare' 'topo --root' 'topo --hwloc-xml' 'topo --lspci' 'topo --device' \
  'doctor --root' 'doctor --only' 'doctor --explain' 'doctor --format' 'doctor --driver-root' \
  'doctor capture --root' 'fix --root' 'fix --driver-root' 'fix --journal' 'peermem status --root' 'peermem status --kernel' 'peermem build --rdma' \
  'peermem build --driver-source' 'peermem install' 'explain --symptom' 'explain --root' 'explain' 'counters' \
  'mpi check' 'mpi check --root' 'mpi check --timeout' 'nccl check' 'nccl check --expect' 'nccl run --log' 'run' 'run --pcap' 'run --'; do
  # shellcheck disable=SC2086  # one to three words
  expect_printable "$gdr" $words "$evil"
done
for variable in GDR_SOFT_DEVICES GDR_SOFT_GPUS GDR_SOFT_FAULTS GDR_SOFT_PATH GDR_SOFT_DMA_BUF; do
  expect_printable env "$variable=$evil" "$gdr" run --soft-nic --soft-gpu -- true
done
for script in "$1/test" "$1/gdr"; do
  [ "$script" = "$1/gdr" ] || expect_printable "$script" "--$evil"
done
rm -f "$evil_output" "$evil_output.error"

"$gdr" --version | grep -Eq '^gdr [0-9]+\.[0-9]+\.[0-9]+ \(' || { echo "--version"; failed=1; }
for subcommand in '' prove run fabric 'fabric compare' counters mpi 'mpi check' nccl 'nccl check' 'nccl run'; do
  # shellcheck disable=SC2086  # none or two words
  "$gdr" $subcommand --help | grep -q '^Usage: gdr' || { echo "$subcommand --help"; failed=1; }
done
exit $failed
