#!/bin/sh
# values.sh GDR: every operation of UCP between two processes on the software NIC alone, every byte
# compared (values.c): over rc and ud, within the host and by packets. With GDR_UCX, the folder where
# a UCX with CUDA is installed: that one, from and into host memory and GPU memory.
set -eu
gdr=$1
folder=$(dirname "$0")
cuda=
if [ -n "${GDR_UCX:-}" ]; then
  flags="-I$GDR_UCX/include -L$GDR_UCX/lib"
  LD_LIBRARY_PATH="$GDR_UCX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export LD_LIBRARY_PATH
  cuda=cuda
else
  flags=
  [ -e /usr/include/ucp/api/ucp.h ] || { echo "skipped: no headers of UCX (package libucx-dev)"; exit 77; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086  # words
cc -O1 -o "$work/values" "$folder/values.c" $flags -lucp -lucs -ldl

# run TLS VARIABLES... -- OPTIONS... -- MEMORY...
run() {
  tls=$1 variables='' options=''
  shift
  while [ "$1" != -- ]; do variables="$variables $1"; shift; done
  shift
  while [ "$1" != -- ]; do options="$options $1"; shift; done
  shift
  # shellcheck disable=SC2086  # words
  if ! timeout 1200 env UCX_TLS="$tls" UCX_NET_DEVICES=soft0:1 UCX_WARN_UNUSED_ENV_VARS=n $variables \
    "$gdr" run --soft-nic $options -- "$work/values" "$@" >"$work/out" 2>&1 ||
    ! grep -q "^[1-9][0-9]* messages, every byte right" "$work/out" ||
    grep -q "ERROR\|WARN" "$work/out"; then
    echo "FAILED: UCX_TLS=$tls$variables, $*"
    cat "$work/out"
    exit 1
  fi
  grep -q "software NIC: opened soft0, .* [KMG]iB" "$work/out" ||
    { echo "FAILED: UCX_TLS=$tls: the software NIC carried nothing"; cat "$work/out"; exit 1; }
  echo "ok  UCX_TLS=$tls$variables, $*"
}

if [ -n "$cuda" ]; then
  for tls in rc ud; do
    run "$tls,cuda_copy,self" -- -- host cuda
    run "$tls,cuda_copy,self" GDR_SOFT_PATH=packets -- -- host cuda
  done
  exit
fi
for tls in rc ud; do
  run "$tls,self" -- --no-soft-gpu -- host
  run "$tls,self" GDR_SOFT_PATH=packets -- --no-soft-gpu -- host
done
