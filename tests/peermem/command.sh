#!/bin/sh
# command.sh GDR: gdr peermem from end to end on made-up hosts. Their modules come from the assembler:
# the sections, symbols and versions that the kernel's build leaves in a file, and nothing else.
set -eu
gdr=$1
cc=$(command -v gcc || command -v cc) || { echo "skipped: no gcc (package gcc) makes the test's modules"; exit 77; }
envelope=$(dirname "$0")/../support/envelope.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernel=6.1.0-56-amd64
tree=lib/modules/$kernel
failed=0

# module FILE NAME [export=SYMBOL=CRC | export_gpl=SYMBOL=CRC | import=SYMBOL=CRC | vermagic=TEXT]...
module() {
  file=$1
  mkdir -p "$(dirname "$file")"
  vermagic="$kernel SMP preempt mod_unload modversions "
  printf '.section .modinfo,"a"\n.asciz "name=%s"\n.asciz "version=550.1"\n.asciz "license=Dual MIT/GPL"\n' \
    "$2" >"$work/module.s"
  shift 2
  for word in "$@"; do
    symbol=${word#*=}
    crc=${symbol#*=}
    symbol=${symbol%%=*}
    case $word in
      vermagic=*) vermagic=${word#*=} ;;
      export=* | export_gpl=*)
        end=${word%%=*}
        end=${end#export}
        printf '.section __ksymtab%s,"a"\n__ksymtab_%s: .skip 12\n.section __kcrctab%s,"a"\n__crc_%s: .long %s\n' \
          "$end" "$symbol" "$end" "$symbol" "$crc" ;;
      import=*)
        printf '.data\n.quad %s\n.section __versions,"a"\n.quad %s\n.asciz "%s"\n.balign 64\n' \
          "$symbol" "$crc" "$symbol" ;;
    esac
  done >>"$work/module.s"
  printf '.section .modinfo,"a"\n.asciz "vermagic=%s"\n' "$vermagic" >>"$work/module.s"
  "$cc" -c -o "$file" "$work/module.s"
}

driver() { module "$1" nvidia export_gpl=nvidia_p2p_get_pages="$2"; }
client() {
  module "$1" nvidia_peermem import=nvidia_p2p_get_pages="$2" \
    import=ib_register_peer_memory_client=0x0badcafe
}

# host NAME: with an RDMA stack that takes peer-memory modules, and no driver.
host() {
  root=$work/$1
  mkdir -p "$root/proc/sys/kernel" "$root/sys/module"
  echo "$kernel" >"$root/proc/sys/kernel/osrelease"
  module "$root/$tree/updates/ib_core.ko" ib_core \
    export=ib_register_peer_memory_client=0x0badcafe
}

# expect STATUS WORDS COMMAND...: its exit status, and what is in its output.
expect() {
  wanted=$1
  words=$2
  shift 2
  status=0
  output=$("$@" 2>&1) || status=$?
  case $output in
    *"$words"*) [ "$status" -ne "$wanted" ] || { echo "ok  $words"; return 0; } ;;
  esac
  echo "FAILED: $*: exit status $status, not $wanted; or no '$words' in:"
  echo "$output"
  failed=1
}

host container
driver "$root/run/nvidia/driver/$tree/kernel/drivers/video/nvidia.ko" 0x219924d1
expect 1 "the driver's root /run/nvidia/driver" "$gdr" peermem status --root "$root"
expect 1 "=> Build one for this driver: gdr peermem build" "$gdr" peermem status --root "$root"
client "$root/$tree/updates/dkms/nvidia-peermem.ko" 0x10
expect 1 'would be refused, modprobe: "Invalid argument"' "$gdr" peermem status --root "$root"
expect 1 "it wants 0x00000010, the GPU driver has 0x219924d1" "$gdr" peermem status --root "$root"
client "$root/$tree/updates/gdrkit/nvidia-peermem.ko" 0x219924d1
expect 0 "=> Load it: sudo gdr fix peer-memory --apply" "$gdr" peermem status --root "$root"
expect 0 '"verdict": "fits"' "$gdr" peermem status --root "$root" --json
for packer in xz zstd gzip; do
  command -v "$packer" >/dev/null || { echo "skipped: $packer is not installed"; continue; }
  case $packer in xz) end=xz ;; zstd) end=zst ;; gzip) end=gz ;; esac
  client "$work/packed.ko" 0x219924d1
  "$packer" -q -c "$work/packed.ko" >"$root/$tree/updates/gdrkit/nvidia-peermem.ko.$end"
  rm -f "$root/$tree/updates/gdrkit/nvidia-peermem.ko"
  expect 0 "nvidia-peermem.ko.$end: fits" "$gdr" peermem status --root "$root"
  rm -f "$root/$tree/updates/gdrkit/nvidia-peermem.ko.$end"
done

host inbox
module "$root/$tree/updates/ib_core.ko" ib_core export=ib_register_device=0x1
driver "$root/$tree/updates/nvidia.ko" 0x219924d1
expect 1 "has no peer-memory interface" "$gdr" peermem status --root "$root"
expect 1 "no peer-memory module can help; use dma-buf" \
  "$gdr" peermem build --root "$root" --output "$work/out.ko"

host wrong
driver "$root/$tree/updates/nvidia.ko" 0x219924d1
expect 1 "own headers of kernel $kernel with --headers" \
  "$gdr" peermem build --root "$root" --output "$work/out.ko"
# What a captured root brings along is never run.
hostile=$root/usr/src/linux-headers-$kernel
mkdir -p "$hostile/scripts" "$root/$tree" "$work/headers"
printf '$(shell touch %s/ran)\nall modules:\n\ttouch %s/ran\n' "$work" "$work" >"$hostile/Makefile"
printf '#!/bin/sh\ntouch %s/ran\n' "$work" >"$hostile/scripts/sign-file"
chmod 755 "$hostile/scripts/sign-file"
ln -s "/usr/src/linux-headers-$kernel" "$root/$tree/build"
ln -s "$hostile" "$work/link"
tar -cf "$work/root.tar" -C "$root" .
for captured in "$root" "$root/." "$work/root.tar"; do
  expect 1 "--root is only read" "$gdr" peermem build --root "$captured" --output "$work/out.ko"
done
for headers in "$hostile" "$work/link" "$root/$tree/../../../usr/src/linux-headers-$kernel"; do
  expect 1 "is below --root, which is only read" \
    "$gdr" peermem build --root "$root" --headers "$headers" --output "$work/out.ko"
done
[ ! -e "$work/ran" ] || { echo "FAILED: a Makefile below --root was run"; failed=1; }
touch "$work/headers/Makefile"
expect 1 "the build failed: " \
  "$gdr" peermem build --root "$root" --headers "$work/headers" --output "$work/out.ko"
[ -e "$work/out.ko.log" ] || { echo "FAILED: the compiler's output was not kept"; failed=1; }
head -c 600 "$root/$tree/updates/nvidia.ko" >"$work/cut.ko"
expect 2 "cut.ko is truncated" "$gdr" peermem build --root "$root" --driver-module "$work/cut.ko"
driver "$work/other.ko" 0x1 && module "$work/other.ko" nvidia vermagic="6.5.0 SMP " \
  export=nvidia_p2p_get_pages=0x1
expect 1 "was built for kernel 6.5.0, not $kernel; give --kernel 6.5.0" \
  "$gdr" peermem build --root "$root" --driver-module "$work/other.ko" --output "$work/out.ko"
[ ! -e "$work/out.ko" ] || { echo "FAILED: a build that failed left a module"; failed=1; }

client "$work/fits.ko" 0x219924d1
before=$(find "$root" | sort)
expect 0 "Dry run on the captured machine" "$gdr" peermem install --root "$root" "$work/fits.ko"
expect 0 "/lib/modules/$kernel/updates/gdrkit/nvidia-peermem.ko" \
  "$gdr" peermem install --root "$root" "$work/fits.ko"
expect 0 '"target": "etc/depmod.d/gdrkit-peermem.conf"' \
  "$gdr" peermem install --root "$root" --json "$work/fits.ko"
"$gdr" peermem install --root "$root" --json "$work/fits.ko" | python3 "$envelope" "gdr peermem install" || failed=1
client "$work/refused.ko" 0x2
expect 1 "the kernel would refuse it: disagrees about version of symbol" \
  "$gdr" peermem install --root "$root" "$work/refused.ko"
[ "$before" = "$(find "$root" | sort)" ] || { echo "FAILED: a dry run has changed files"; failed=1; }

# As root, nothing of another account is run or taken on gdr's own initiative.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  account="setpriv --reuid=54440 --regid=54440 --clear-groups"
  chmod 755 "$work"
  mkdir "$work/theirs" "$work/shared"
  cp -r "$hostile" "$work/theirs/headers"
  cp "$work/fits.ko" "$work/theirs/nvidia-peermem.ko"
  chown -R 54440:54440 "$work/theirs"
  chmod 777 "$work/shared"
  build="$gdr peermem build --root $root --output $work/out.ko"
  expect 1 "are not run as root: $work/theirs belongs to account 54440" \
    $build --headers "$work/theirs/headers"
  expect 1 "$work/shared is not safe for a folder: $work/shared can be written by everybody; set TMPDIR" \
    env TMPDIR="$work/shared" $build --headers "$work/headers"
  [ ! -e "$work/ran" ] || { echo "FAILED: another account's Makefile was run"; failed=1; }
  cd "$work/theirs"
  expect 2 "nvidia-peermem.ko is not installed unless you name it, since $work/theirs belongs to" \
    "$gdr" peermem install --root "$root" --dry-run
  expect 0 "Dry run on the captured machine" "$gdr" peermem install --root "$root" ./nvidia-peermem.ko
  # Its owner need not name it.
  expect 0 "Dry run on the captured machine" $account "$gdr" peermem install --root "$root"
  cd /
else
  echo "skipped: other accounts need root and setpriv"
fi
exit $failed
