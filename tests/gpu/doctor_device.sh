#!/bin/sh
# doctor_device.sh GDR: what gdr doctor says on a machine with GPUs, for a person to read. Where no
# RDMA NIC is there and the kernel has no peer-memory interface, the check that tries registration
# has to say exactly that; this script ends with 1 where it does not.
gdr=${1:-bin/gdr}
out=${OUT:-.}

"$gdr" doctor --all
echo "exit status $?"
for check in registration registration-path peer-memory gpu-capability gpu-count gpu-bar1-space; do
  echo
  "$gdr" doctor --explain "$check"
done
echo
"$gdr" doctor --container
"$gdr" doctor --json >"$out/doctor.json"
echo "JSON: exit status $?, in $out/doctor.json"

if [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] &&
  ! grep -q ib_register_peer_memory_client /proc/kallsyms; then
  said="dma-buf export works, this kernel has no peer-memory interface, no RDMA NIC to register with"
  if ! "$gdr" doctor --only registration | tr '\n' ' ' | tr -s ' ' | grep -q "$said"; then
    echo "FAILED: registration did not say: $said"
    exit 1
  fi
fi
echo "ok"
