#!/bin/bash
# container.sh TREE CONTAINERFILE: builds the image from an installed tree, from a tarball and from packages of
# it, without a registry, and starts in it, as its user, what the pages promise.
#
# The base is debootstrapped with the packages that the image needs. GDR_CONTAINER_BASE=FOLDER names one
# that is there already: a Debian 12 with these packages.
set -euo pipefail
tree=$1
containerfile=$2
skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "needs root, for chroot"
command -v buildah >/dev/null || skip "no buildah (package buildah)"

work=$(mktemp -d)
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
export CONTAINERS_STORAGE_CONF=$work/storage.conf TMPDIR=$work
cat >"$work/storage.conf" <<CONF
[storage]
driver = "vfs"
graphroot = "$work/storage"
runroot = "$work/run"
CONF
clean_up() {
  buildah rm --all >/dev/null 2>&1 || true
  buildah umount --all >/dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

packages=$(sed -n 's/^ARG PACKAGES="\(.*\)"$/\1/p' "$containerfile")
base=${GDR_CONTAINER_BASE:-}
if [ -z "$base" ]; then
  command -v debootstrap >/dev/null || skip "no debootstrap (package debootstrap)"
  base=$work/base
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)
  timeout 400 debootstrap --variant=minbase --include="${packages// /,}" bookworm "$base" "$mirror" \
    >"$work/debootstrap.log" 2>&1 || skip "no base: $(tail -n 1 "$work/debootstrap.log")"
fi
container=$(buildah from scratch)
buildah copy -q "$container" "$base" / >/dev/null
buildah commit -q "$container" localhost/base >/dev/null
buildah rm "$container" >/dev/null

# build NAME: an image of the context, with no mirror and no registry to be reached.
build() {
  unshare --net buildah bud -q --pull-never --build-arg BASE=localhost/base -t "localhost/$1" \
    -f "$containerfile" "$work/$1" >"$work/$1.log" 2>&1 || { cat "$work/$1.log"; exit 1; }
}
in_image() { buildah run "$container" -- "$@"; }
fail() { echo "FAILED: $1"; exit 1; }

# package NAME CONTROL-LINE...: the tree below NAME as a package.
package() {
  local name=$1
  shift
  mkdir -p "$work/$name/DEBIAN"
  printf '%s\n' "Package: $name" 'Version: 0.0.0' 'Architecture: all' 'Maintainer: test <test@example.com>' \
    'Description: part of gdrkit, packed by a test' "$@" >"$work/$name/DEBIAN/control"
  dpkg-deb --build --root-owner-group -Znone "$work/$name" "$work/from-packages/${name}_0.0.0_all.deb" >/dev/null
}

mkdir -p "$work/from-tree" "$work/from-tarball" "$work/from-packages" "$work/gdrkit-standins/usr/lib/gdrkit"
cp -a "$tree" "$work/from-tree/gdrkit"
# As CPack packs it: one folder that has the release's name.
tar -czf "$work/from-tarball/gdrkit-0.0.0-Linux.tar.gz" --transform 's,^\.,gdrkit-0.0.0-Linux,' -C "$tree" .
mkdir -p "$work/gdrkit"
cp -a "$tree" "$work/gdrkit/usr"
mv "$work/gdrkit/usr/lib/gdrkit/"soft-* "$work/gdrkit-standins/usr/lib/gdrkit"
package gdrkit 'Depends: libfmt9, libpci3'
package gdrkit-standins 'Depends: gdrkit'

for image in from-tree from-tarball from-packages; do
  build "$image"
  [ "$(buildah inspect --type image --format '{{.OCIv1.Config.Entrypoint}}' "localhost/$image")" = "[gdr]" ] ||
    fail "the entry point is not gdr"
  container=$(buildah from --pull-never "localhost/$image")
  [ "$(in_image id -u)" = 65532 ] || fail "runs as $(in_image id -un)"
  [ "$(in_image stat -c %u /usr/bin/gdr)" = 0 ] || fail "its user owns gdr"
  in_image gdr --version >/dev/null
  # perftest's --version ends with 1.
  [[ $(in_image gdr run --quiet -- ib_write_bw --version 2>/dev/null || true) == Version:* ]] ||
    fail "gdr run does not start ib_write_bw"
  buildah rm "$container" >/dev/null
done

container=$(buildah from --pull-never localhost/from-tree)
in_image gdr prove --no-measure --modes write,read --sizes 4097,1M >"$work/prove" || { cat "$work/prove"; exit 1; }
grep -q '^SIMULATION PASSED' "$work/prove" || fail "$(tail -n 3 "$work/prove")"
in_image gdr prove --require-hardware --no-measure >"$work/hardware" && fail "proves hardware that is not there"
grep -q '^FAILED' "$work/hardware" || fail "$(tail -n 3 "$work/hardware")"
# Two processes, one connection, in the image's own user and network.
in_image sh -c 'gdr run --quiet -- ib_write_bw -d soft0 -n 100 >/tmp/server & sleep 1
  gdr run --quiet -- ib_write_bw -d soft0 -n 100 localhost && wait $!' >"$work/perftest" ||
  { cat "$work/perftest"; exit 1; }
grep -Eq '^ 65536 +100 ' "$work/perftest" || fail "$(cat "$work/perftest")"
# The DaemonSet's program is where the manifest says.
in_image /usr/share/gdrkit/clusters/monitoring/gdr-textfile --help >/dev/null
