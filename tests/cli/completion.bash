#!/bin/bash
# completion.bash GDR SOURCE: the function that bash calls, in a bash: COMPREPLY after words that are
# split as bash splits them. The last one is being typed.
set -u
gdr=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here"
cd "$work/here" || exit 1
touch 'a file.log' other.log
mkdir folder
# Names of devices that a shell would carry out, or that our function would take for its own words.
export GDR_SOFT_DEVICES='soft0,soft1,$(touch pwned),`touch pwned`,a b,:files,;touch pwned
touch pwned,:program x[$(touch pwned)]'
unset GDR_SOFT_GPUS

# The functions that distributions' bash-completion has; without them the script does without.
common=/usr/share/bash-completion/bash_completion
if [ -r "$common" ]; then
  # shellcheck disable=SC1090
  . "$common" || true
fi
# shellcheck disable=SC1091
. "$source/src/tools/cli/completions/gdr.bash" || exit 1
failed=0

# expect WORDS-OF-BASH... @ EXPECTED...
expect() {
  COMP_WORDS=("$gdr")
  while [ "$1" != @ ]; do
    COMP_WORDS+=("$1")
    shift
  done
  shift
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMP_LINE="${COMP_WORDS[*]}"
  COMP_POINT=${#COMP_LINE}
  COMPREPLY=(left over)
  if ! _gdr "$gdr" 2>"$work/errors"; then
    echo "${COMP_WORDS[*]}: the function failed"
    failed=1
  fi
  # compopt complains when it is not called by a completion, which only bash itself does.
  if grep -v 'compopt' "$work/errors"; then failed=1; fi
  local got wanted
  got=$(printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | LC_ALL=C sort)
  wanted=$(printf '%s\n' "$@" | LC_ALL=C sort)
  if [ "$got" != "$wanted" ]; then
    printf '%s: offered\n%s\nand not\n%s\n' "${COMP_WORDS[*]}" "$got" "$wanted"
    failed=1
  fi
}

expect 'do' @ doctor
expect peermem '' @ status build install remove
expect prove --so @ --soft
expect prove --memory '' @ alloc vmm host
# bash hands over --memory=v in three pieces and replaces the last one.
expect prove --memory = v @ vmm
expect prove --memory = @ alloc vmm host
expect prove --modes write,re @ write,read
expect perf --nic '' @ soft0 soft1
expect nowhere '' @
expect help doctor '' @ capture
# Files, with their names as they are.
expect explain '' @ 'a file.log' other.log folder
expect explain a @ 'a file.log'
expect topo --report = o @ other.log
expect fix --journal '' @ folder
# A program, its options, and files for them.
expect run -- /bin/truncat @ /bin/truncate
expect run --quiet -- cat oth @ other.log
expect run --pre @ --presence
# Without the functions of bash-completion.
unset -f _command_offset
expect run -- /bin/truncat @ /bin/truncate
# A gdr that fails, or is not there, leaves the shell alone.
printf '#!/bin/sh\necho broken >&2\nexit 3\n' >"$work/broken"
chmod +x "$work/broken"
gdr=$work/broken
expect pro @
gdr=$work/nowhere
expect pro @
if [ -e pwned ]; then
  echo "a device's name was carried out"
  failed=1
fi
exit $failed
