#!/bin/sh
# install_tree.sh CMAKE BUILD TREE: installs anew what BUILD has built.
set -eu
rm -rf "$3"
"$1" --install "$2" --prefix "$3" >/dev/null
"$3/bin/gdr" --version >/dev/null
