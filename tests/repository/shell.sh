#!/bin/sh
# No script gives shellcheck anything to warn of.
set -eu
cd "$1"
command -v shellcheck >/dev/null ||
  { echo "skipped: no shellcheck (package shellcheck; ./test --full installs it)"; exit 77; }
find tests scripts packaging -name '*.sh' -print0 |
  xargs -0 shellcheck -x -P . -S warning gdr test .ci/run packaging/monitoring/*
