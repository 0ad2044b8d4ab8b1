#!/bin/sh
# Slurm prolog: a job with GPUs starts only where GPUDirect RDMA is proved for its GPUs. A status
# other than 0 drains the node and requeues the job.
#
#   ln -s THIS /etc/slurm/prolog.d/        and in slurm.conf:
#   Prolog=/etc/slurm/prolog.d/*
#   PrologFlags=Alloc                      at the node's allocation, not at the job's first step
set -u
PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
# Slurm counts GPUs as their device files are numbered; CUDA would put the fastest first.
CUDA_DEVICE_ORDER=PCI_BUS_ID
export PATH CUDA_DEVICE_ORDER

self=$(readlink -f "$0")
prefix=${self%/share/gdrkit/*}
# A copy of this script lies elsewhere.
[ -d "$prefix/share/gdrkit" ] || prefix=/usr
report=/run/gdr-prolog-${SLURM_JOB_ID:-0}.txt

refuse() {
  logger -t gdr-prolog "job ${SLURM_JOB_ID:-?}: $1" 2>/dev/null
  echo "gdr-prolog: $1" >&2
  exit 1
}

# Unknown (2) does not drain: then it is gdr that needs repair, perhaps on all nodes at once.
line=$("$prefix/share/gdrkit/clusters/monitoring/gdr-verdict") || [ $? -ne 1 ] || refuse "$line"

# Slurm names the job's GPUs if slurm.conf has GresTypes=gpu. Other GPUs may belong to other jobs,
# and a job without GPUs needs no proof. Without GresTypes use a copy of this script with gpus=0.
gpus=${SLURM_JOB_GPUS:-}
set -f
for gpu in $(echo "$gpus" | tr ',' ' '); do
  timeout 60 "$prefix/bin/gdr" prove --require-hardware --no-measure --modes write,read \
    --sizes 4097,1M --gpu "$gpu" >"$report" 2>&1 ||
    refuse "GPU $gpu: gdr prove ended with status $?; $report has its report"
done
rm -f "$report"
