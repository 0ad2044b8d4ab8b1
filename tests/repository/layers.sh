#!/bin/sh
# The check of the arrows passes on this tree and fails on a copy with an include against them.
set -eu
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { "$CMAKE" -D ARROWS="$1" -D SRC="$2" -P "$source/cmake/CheckLayers.cmake" 2>&1; }
fail() { echo "FAILED: $*"; exit 1; }

check "$build/layers.txt" "$source/src" || fail "the tree itself does not pass"

expect_refused() {
  if output=$(check "$work/arrows" "$work/src"); then fail "$1 passed"; fi
  case $output in
    *"$2"*) ;;
    *) fail "$1: no line '$2' in: $output" ;;
  esac
}

mkdir -p "$work/src/common/base" "$work/src/stand_ins/rnic" "$work/src/stand_ins/verbs" "$work/src/tools/cli"
printf 'base: \nrnic: base\nverbs: rnic\ncli: base\n' >"$work/arrows"
printf '#pragma once\n' >"$work/src/common/base/clock.h"
printf '#pragma once\n' >"$work/src/stand_ins/rnic/queue_pair.h"
printf '#include "base/clock.h"\n#include <vector>\n#include <rnic/of_the_system.h>\n' >"$work/src/stand_ins/verbs/poll.cc"
check "$work/arrows" "$work/src" || fail "a layer below the next one was refused"

printf '#pragma once\n\n#include "rnic/queue_pair.h"\n' >"$work/src/common/base/clock.h"
expect_refused "an include upwards" \
  "src/common/base/clock.h:3: layer 'base' includes from 'rnic'; allowed: base"
printf '#pragma once\n#  include <rnic/queue_pair.h>\n' >"$work/src/common/base/clock.h"
expect_refused "an include in angle brackets" "src/common/base/clock.h:2: layer 'base' includes from 'rnic'"
printf '#include "../rnic/queue_pair.h"\n' >"$work/src/common/base/clock.h"
expect_refused "an include through the parent folder" "src/common/base/clock.h:1: layer 'base'"

printf '#pragma once\n' >"$work/src/common/base/clock.h"
printf 'base: \nrnic: base\nverbs: rnic\ncli: verbs\n' >"$work/arrows"
expect_refused "a tool above the device" "layer 'cli' is of src/tools and must not reach 'rnic'"
printf 'base: \nrnic: cli\nverbs: base\ncli: base\n' >"$work/arrows"
expect_refused "a device above a tool" "layer 'rnic' is of src/stand_ins and must not reach 'cli'"
printf 'base: cli\nrnic: base\nverbs: base\ncli: \n' >"$work/arrows"
expect_refused "a common layer above a tool" "layer 'base' is of src/common and must not reach 'cli'"
