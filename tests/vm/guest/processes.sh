#!/bin/sh
# What each process of the guest, the kernel's own aside, does in the kernel.
for process in /proc/[1-9]*; do
  words=$(tr '\0' ' ' <"$process/cmdline" 2>/dev/null)
  [ -z "$words" ] || echo "${process#/proc/} $words: $(head -n 4 "$process/stack" | sed 's/.*> //' | xargs)"
done
