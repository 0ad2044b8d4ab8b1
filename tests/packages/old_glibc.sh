#!/bin/sh
# old_glibc.sh SOURCE SCRATCH VERSION: a program of the C++ library, linked as the portable build links,
# wants no newer glibc than VERSION, and does here what it should: constructors, destructors, exceptions,
# threads, timed waits. portable.py looks at the real programs; this takes seconds.
set -eu
glibc=$1/cmake/glibc
folder=$2
rm -rf "$folder"
mkdir -p "$folder"

"${CMAKE:-cmake}" -D GLIBC="$3" -D FOLDER="$folder" -D COMPILER=cc -D OBJDUMP=objdump -P "$glibc/Stubs.cmake"
for file in "$glibc"/*.c; do
  cc -O2 -D_GNU_SOURCE -fPIC -fvisibility=hidden -c "$file" -o "$folder/$(basename "$file" .c).o"
done
ar rc "$folder/libgdr_glibc.a" "$folder"/*.o
c++ -std=c++20 -O1 -fPIE "$1/tests/packages/old_glibc_probe.cc" -o "$folder/probe" \
  -static-libstdc++ -static-libgcc -Wl,--as-needed -L"$folder" -Wl,--wrap=__libc_start_main -ldl

LD_BIND_NOW=1 "$folder/probe" >"$folder/said"
printf 'constructed\ncaught\nwaited\nthread\nfile\nrandom\ndestroyed\n' | diff - "$folder/said" ||
  { echo "FAILED: that is not what the program does elsewhere"; exit 1; }
newest=$(objdump -T "$folder/probe" | sed -n 's/.*\*UND\*.*GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -n 1)
[ "$(printf '%s\n%s\n' "$newest" "$3" | sort -V | tail -n 1)" = "$3" ] ||
  { echo "FAILED: it wants glibc $newest, not $3 at most"; exit 1; }
# What the libraries of version 2.34 and later have taken in is asked of the ones it was in before.
for library in libpthread.so.0 libdl.so.2; do
  objdump -p "$folder/probe" | grep -q "NEEDED *$library" || { echo "FAILED: it does not need $library"; exit 1; }
done
echo "ok: glibc $newest at most"
