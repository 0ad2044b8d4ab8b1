#!/bin/sh
# Slurm epilog: after a job, the file checks of gdr doctor. They find what jobs leave behind: ACS that
# came back with a device reset, a NIC or GPU that left the bus, a link that is down. A status other
# than 0 drains the node. It moves no data, since the node's other GPUs may be in use.
#
#   ln -s THIS /etc/slurm/epilog.d/        and in slurm.conf: Epilog=/etc/slurm/epilog.d/*
set -u
PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
export PATH

self=$(readlink -f "$0")
prefix=${self%/share/gdrkit/*}
# A copy of this script lies elsewhere.
[ -d "$prefix/share/gdrkit" ] || prefix=/usr

# Unknown (2) does not drain: then it is gdr that needs repair, perhaps on all nodes at once.
line=$("$prefix/share/gdrkit/clusters/monitoring/gdr-verdict") || [ $? -ne 1 ] || {
  logger -t gdr-epilog "job ${SLURM_JOB_ID:-?}: $line" 2>/dev/null
  echo "gdr-epilog: $line" >&2
  exit 1
}
