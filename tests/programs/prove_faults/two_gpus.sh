#!/bin/sh
# two_gpus.sh GDR: memory of one GPU to that of another is proved, every kind in every mode, and text and
# document say which GPU was where: a read fetches, so its data goes the other way.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options="--soft --gpu 0 --from-gpu fffe:02:00.0 --sizes 1,4097"
"$1" prove -v $options >"$work/text" || { cat "$work/text"; echo "exit status $?"; exit 1; }
cat "$work/text"
for phrase in "^SIMULATION PASSED: no real GPU or NIC was tested " \
  "^Transfers soft0 → soft1, GPU 1 → GPU 0: every byte" \
  "^Speed of RC write, soft0 → soft1, GPU 1 → GPU 0: direct vs. staged" "^  GPU 1 → GPU 0  *[0-9.]* µs" \
  "^  ok      RC write  *GPU 1 → GPU 0  " "^  ok      RC write  *GPU 1 VMM → GPU 0 VMM  " \
  "^  ok      RC read  *GPU 0 → GPU 1  " "^  ok      RC atomics  *GPU 1 VMM → GPU 0 VMM  " \
  "^  ok      UD send  *GPU 1 → GPU 0  " "^  ok .* 2 MiB on GPU 1 registered with soft0" \
  "^  on  *GPU 1 (fffe:02:00.0, .*) beside soft0, GPU 0 (fffe:01:00.0, .*) beside soft1"; do
  grep -q -- "$phrase" "$work/text" || { echo "does not say: $phrase"; exit 1; }
done
"$1" prove $options --no-measure --modes write,read --json >"$work/json" || exit 1
python3 - "$work/json" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
pair, = report["participants"]
assert pair["from_gpu"]["pci_address"] == "fffe:02:00.0" and pair["from_nic"] == "soft0", pair
assert pair["gpu"]["pci_address"] == "fffe:01:00.0" and pair["to_nic"] == "soft1", pair
ends = {(check["mode"], check["source_gpu"], check["target_gpu"]) for check in report["checks"]}
assert ends == {(mode, *gpus)
                for mode, here, there in (("write", "GPU 1", "GPU 0"), ("read", "GPU 0", "GPU 1"))
                for gpus in (("", ""), ("", there), (here, ""), (here, there))}, ends
END
