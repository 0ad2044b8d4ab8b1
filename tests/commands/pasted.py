"""Commands as a person pastes them: a bash that finds no program writes down the words that each would
have got, and a POSIX shell reads them once more."""
import subprocess

# Builtins are shadowed where commands hand them words of others; programs are never found.
SHELL = r"""
note() { builtin printf '%s\0' "$@" >> "$NOTED"; builtin printf '\0' >> "$NOTED"; }
command_not_found_handle() { note "$@"; }
export() { note export "$@"; }
unset() { note unset "$@"; }
echo() { note echo "$@"; }
printf() { note printf "$@"; }
cd() { note cd "$@"; }
ulimit() { note ulimit "$@"; }
.() { note . "$@"; }
source() { note source "$@"; }
while IFS= read -r -d '' command; do
  ( builtin eval "$command" ) < /dev/null > /dev/null
done
"""
COMPLAINTS = ("syntax error", "unexpected EOF", "unterminated")


def paste(commands, work):
    """The words of every program that they would start; an error where a shell does not take them."""
    noted, empty = work / "noted", work / "no-programs"
    noted.write_bytes(b"")
    empty.mkdir(exist_ok=True)
    done = subprocess.run(
        ["/bin/bash", "--norc", "-c", SHELL], input="".join(one + "\0" for one in commands).encode(),
        env={"PATH": str(empty), "NOTED": str(noted), "HOME": "/root"}, cwd=work, capture_output=True,
        timeout=1200, check=False)
    complaints = done.stderr.decode(errors="replace")
    if any(one in complaints for one in COMPLAINTS):
        raise AssertionError(f"bash: {complaints}")
    read = subprocess.run(["/bin/sh", "-n"], input="\n".join(commands).encode(), capture_output=True,
                          timeout=1200, check=False)
    if read.returncode != 0:
        raise AssertionError(f"sh: {read.stderr.decode(errors='replace')}")
    calls = noted.read_bytes().decode(errors="surrogateescape").split("\0\0")
    return [call.split("\0") for call in calls if call]
