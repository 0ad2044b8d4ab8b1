#!/bin/sh
# initramfs.sh KERNEL BUILD [PROGRAM...]: writes KERNEL/initramfs, the guest's whole system: the kernel
# modules that kernel.sh left in KERNEL, the programs of this machine's distribution, the gdrkit of
# BUILD, and each PROGRAM in /lab/bin; a folder becomes one in /lab. Made anew each time, so that nothing in it is ever older than
# what it was made from. Exit status 77, with the reason, where a program is missing.
set -eu
kernel=$1
build=$2
shift 2
here=$(dirname "$(readlink -f "$0")")
skip() { echo "skipped: $*"; exit 77; }

# The distribution's, by package.
iproute2="ip tc rdma"
ibverbs_utils="ibv_devinfo ibv_rc_pingpong ibv_ud_pingpong ibv_uc_pingpong"
perftest="ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw ib_write_lat ib_read_lat ib_send_lat"

root=$(mktemp -d "$kernel/initramfs.XXXXXX")
trap 'rm -rf "$root" "$kernel/initramfs.new"' EXIT
trap 'exit 1' INT TERM

# Where the dynamic linker of this machine finds them, so does the guest's.
add_libraries() {
  { ldd "$1" 2>/dev/null || true; } | grep -oE '/[^ ]+' | while read -r library; do
    [ -e "$root$library" ] || install -D "$library" "$root$library"
  done
}

add_program() {
  path=$(PATH=$PATH:/usr/sbin:/sbin command -v "$1") || skip "$1 is not installed (Debian: $2)"
  install "$path" "$root/usr/bin/"
  add_libraries "$path"
}

for folder in bin sbin usr/bin usr/sbin lib lib64 etc proc sys dev run tmp lab/bin; do
  mkdir -p "$root/$folder"
done
busybox=$(command -v busybox) || skip "busybox is not installed (Debian: busybox-static)"
install "$busybox" "$root/bin/busybox"
for applet in $("$busybox" --list | grep -vxE 'busybox|sh|ip|tc'); do
  ln -s busybox "$root/bin/$applet"
done
ln -s ../bin/busybox "$root/sbin/modprobe"  # where the kernel looks for it
# Not busybox's shell: that prefers its own ip and tc, and its own programs to those in PATH.
install "$(command -v dash)" "$root/bin/sh"
add_libraries "$root/bin/sh"
for program in $iproute2; do add_program "$program" iproute2; done
for program in $ibverbs_utils; do add_program "$program" ibverbs-utils; done
for program in $perftest; do add_program "$program" perftest; done

# The provider of rxe is loaded by name, so ldd does not see it.
provider=$(find /usr/lib /usr/lib64 -name 'librxe-rdmav*.so' 2>/dev/null | head -n 1)
[ -n "$provider" ] || skip "libibverbs has no provider for rxe (Debian: ibverbs-providers)"
install -D "$provider" "$root$provider"
install -D /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/rxe.driver"
add_libraries "$provider"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo '127.0.0.1 localhost' >"$root/etc/hosts"

for file in bin/gdr lib/gdrkit/soft-nic lib/gdrkit/soft-gpu; do
  mkdir -p "$root/opt/gdrkit/$(dirname "$file")"
  cp -a "$build/$file" "$root/opt/gdrkit/$file"
done
find "$root/opt/gdrkit" -type f -exec strip --strip-debug {} +
add_libraries "$build/bin/gdr"
for program in "$@"; do
  if [ -d "$program" ]; then
    cp -r "$program" "$root/lab/"
    continue
  fi
  install "$program" "$root/lab/bin/"
  add_libraries "$program"
done
install "$here/guest/init.sh" "$root/init"
install "$here"/guest/*.sh "$root/lab/"

{
  cat "$kernel/modules.cpio"
  cd "$root"
  find . | busybox cpio -o -H newc 2>/dev/null
} >"$kernel/initramfs.new"
mv "$kernel/initramfs.new" "$kernel/initramfs"
