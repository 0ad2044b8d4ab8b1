#!/bin/sh
# open_mpi.sh GDR: Open MPI's point-to-point, one-sided and collective operations over UCX on the
# software NIC alone, between four ranks; every byte compared. The NIC must have carried them.
set -eu
gdr=$1
for program in mpicc mpirun; do
  command -v $program >/dev/null || { echo "skipped: no $program (packages openmpi-bin, libopenmpi-dev)"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpicc -o "$work/ring" "$(dirname "$0")/mpi_ring.c"
as_root=
[ "$(id -u)" != 0 ] || as_root=--allow-run-as-root

# run NAME OPTIONS...: mpirun's options.
run() {
  name=$1
  shift
  # shellcheck disable=SC2086  # one word or none
  timeout 100 "$gdr" run --soft-nic --no-soft-gpu -- mpirun $as_root --oversubscribe -n 4 \
    --mca pml ucx "$@" "$work/ring" >"$work/out" 2>"$work/err" ||
    { echo "FAILED: $name"; cat "$work/out" "$work/err"; exit 1; }
  grep -q "all right, 4 ranks" "$work/out" || { echo "FAILED: $name"; cat "$work/out" "$work/err"; exit 1; }
  grep -q "software NIC: opened soft0.* MiB" "$work/err" ||
    { echo "FAILED: $name: the software NIC carried nothing"; cat "$work/err"; exit 1; }
  echo "ok  $name"
}

run "rc" -x UCX_TLS=rc --mca osc ucx
run "ud" -x UCX_TLS=ud
