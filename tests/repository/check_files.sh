#!/bin/sh
# Each check of gdr doctor has a file of its own, named like its id: ipc-lock is in ipc_lock.cc.
set -eu
cd "$1/src/tools/doctor/checks"
found=0 failed=0
for file in */*.cc; do
  for id in $(tr '\n' ' ' <"$file" | grep -oE 'const Check k[A-Za-z0-9]+\{ *"[a-z0-9-]+"' | cut -d'"' -f2); do
    found=$((found + 1))
    [ "$(basename "$file" .cc | tr _ -)" = "$id" ] ||
      { echo "checks/$file has the check $id"; failed=1; }
  done
done
[ "$found" -eq "$(grep -c '^GDR_CHECK' list.inc)" ] || { echo "$found checks found, not those of list.inc"; failed=1; }
exit "$failed"
