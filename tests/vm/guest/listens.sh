#!/bin/sh
# listens.sh PORT: waits until a program listens on that TCP port.
wanted=$(printf ':%04X [0-9A-F]*:0000 0A ' "$1")  # 0A is LISTEN
waited=0
until grep -qs "$wanted" /proc/net/tcp /proc/net/tcp6; do
  waited=$((waited + 1))
  [ "$waited" -lt 200 ] || exit 1
  sleep 0.05
done
