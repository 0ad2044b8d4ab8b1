#!/bin/sh
# What --install put down, the target uninstall takes away: that and nothing else.
set -eu
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DESTDIR="$work/root"

listing() { (cd "$DESTDIR" && find . -mindepth 1 | LC_ALL=C sort); }

mkdir -p "$DESTDIR/usr/local/bin" "$DESTDIR/usr/local/lib/gdrkit" "$DESTDIR/usr/local/share/doc" \
  "$DESTDIR/usr/local/share/man"
echo keep >"$DESTDIR/usr/local/bin/other-program"
echo keep >"$DESTDIR/usr/local/lib/gdrkit/of-the-administrator"
listing >"$work/before"

"$CMAKE" --install "$build" --prefix /usr/local >"$work/install.log"
[ -x "$DESTDIR/usr/local/bin/gdr" ] || { echo "no bin/gdr was installed"; listing; exit 1; }
"$DESTDIR/usr/local/bin/gdr" --version >/dev/null || { echo "the installed gdr does not run"; exit 1; }

for file in man/man1/gdr.1 man/man1/gdr-doctor-capture.1 man/man7/gdr-soft.7 zsh/site-functions/_gdr \
  bash-completion/completions/gdr fish/vendor_completions.d/gdr.fish; do
  [ -s "$DESTDIR/usr/local/share/$file" ] || { echo "no share/$file was installed"; exit 1; }
done

"$CMAKE" -D BUILD="$build" -P "$1/cmake/Uninstall.cmake" >"$work/uninstall.log"
listing >"$work/after"
diff "$work/before" "$work/after" || { echo "uninstall left or took more than install put down"; exit 1; }
