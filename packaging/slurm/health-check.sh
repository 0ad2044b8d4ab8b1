#!/bin/sh
# Slurm's HealthCheckProgram: drains this node while a check of gdr doctor fails, with the finding as
# the reason, and resumes it when none does any more. A node that somebody else drained, or drained
# for another reason, stays as it is.
#
#   HealthCheckProgram=/usr/share/gdrkit/clusters/slurm/health-check.sh
#   HealthCheckInterval=300
#   HealthCheckNodeState=ANY
set -u
PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
export PATH

self=$(readlink -f "$0")
prefix=${self%/share/gdrkit/*}
# A copy of this script lies elsewhere.
[ -d "$prefix/share/gdrkit" ] || prefix=/usr
node=${SLURMD_NODENAME:-$(hostname -s)}

line=$("$prefix/share/gdrkit/clusters/monitoring/gdr-verdict")
status=$?
[ "$status" -lt 2 ] || { echo "gdr-health-check: $line" >&2; exit 0; }

now=$(scontrol show node --oneliner "$node") ||
  { echo "gdr-health-check: scontrol does not know the node $node" >&2; exit 1; }
case $now in
  # Slurm adds who and when: Reason=gdr: acs: ... [root@2026-11-26T10:00:00]
  *" Reason=gdr: "*) by=us ;;
  *" Reason="*) by=others ;;
  *) by=nobody ;;
esac
case $status-$by in
  1-nobody) scontrol update NodeName="$node" State=DRAIN Reason="$line" ;;
  # The finding may be another one by now. Only what changes is sent to the controller.
  1-us)
    case $now in
      *" Reason=$line"*) ;;
      *) scontrol update NodeName="$node" Reason="$line" ;;
    esac
    ;;
  0-us) scontrol update NodeName="$node" State=RESUME ;;
esac
