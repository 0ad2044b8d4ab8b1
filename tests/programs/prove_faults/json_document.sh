#!/bin/sh
# json_document.sh GDR: standard output is one JSON document and nothing else.
set -u
"$1" prove --soft --json --sizes 1,4097 --modes raw,write | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["verdict"] == "SIMULATION PASSED", report["verdict"]
assert report["exit_status"] == 0 and not report["partial"], report
assert report["stand_ins"] == ["RDMA NIC", "GPU"], report["stand_ins"]
assert {check["mode"] for check in report["checks"]} == {"raw", "write"}
assert all(check["status"] == "proved" and check["failed"] == 0 for check in report["checks"])
assert any(check["from"] == "host" and check["to"] == "cuMemAlloc" for check in report["checks"])
'
