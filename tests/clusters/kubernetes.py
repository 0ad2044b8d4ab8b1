#!/usr/bin/env python3
"""kubernetes.py TREE: the manifests of an installed tree. They parse, kustomize puts them together, their
names agree, they ask for no more rights than they need, and their commands do with this build's gdr what
they are for."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from installation import expect, run
from machine import Machine

try:
    import yaml
except ImportError:
    print("skipped: no module yaml (package python3-yaml)")
    sys.exit(77)

TREE = pathlib.Path(sys.argv[1])
READ_ONLY = {"/sys", "/proc", "/dev", "/lib/modules", "/boot"}
WRITTEN = {"/var/lib/node_exporter/textfile_collector", "/etc/kubernetes/node-feature-discovery/features.d"}


def documents(text):
    return [document for document in yaml.safe_load_all(text) if document]


def files_parse(folder):
    """And whatever a kustomization names is there."""
    files = sorted(folder.rglob("*.yaml"))
    expect(len(files) >= 8, files)
    for file in files:
        parsed = documents(file.read_text(encoding="utf-8"))
        expect(parsed and all(document["apiVersion"] and document["kind"] for document in parsed), file)
        for document in parsed:
            for name in document.get("resources", []) + document.get("components", []):
                expect((file.parent / name).exists(), f"{file}: {name} is not there")
    if shutil.which("yamllint"):
        done = run("yamllint", "--strict", "-c", folder / ".yamllint", folder)
        expect(done.returncode == 0, f"yamllint: {done.stdout}")
    else:
        print("not linted: no yamllint (package yamllint)")


def least_privilege(pod, capabilities):
    """No right but those, no host namespace, no token, and nothing of the host is written but two folders."""
    for right in ("hostNetwork", "hostPID", "hostIPC", "serviceAccountName"):
        expect(right not in pod, f"the pod has {right}")
    containers = pod.get("initContainers", []) + pod["containers"]
    ours = [container for container in containers if container["name"] in ("gdr-doctor", "gpudirect-rdma")]
    expect(len(ours) == 1, [container["name"] for container in containers])
    context = ours[0]["securityContext"]
    expect(context["capabilities"] == {"drop": ["ALL"], "add": capabilities}, context)
    expect(context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True, context)
    expect("privileged" not in context and context["seccompProfile"]["type"] == "RuntimeDefault", context)
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount for mount in ours[0]["volumeMounts"]}
    expect(volumes.keys() == mounts.keys(), f"volumes {volumes.keys()}, mounted {mounts.keys()}")
    for name, volume in volumes.items():
        path = volume.get("hostPath", {}).get("path")
        if path:
            expect(path in READ_ONLY | WRITTEN, f"unexpected folder of the host: {path}")
            expect(mounts[name].get("readOnly", False) == (path in READ_ONLY), f"{path}: {mounts[name]}")
    return ours[0]


def kustomized(folder):
    done = run("kubectl", "kustomize", folder)
    expect(done.returncode == 0, f"kubectl kustomize {folder.name}: {done.stderr}")
    return {document["kind"]: document for document in documents(done.stdout)}


def doctor(daemon_set, capabilities, files, work):
    """The DaemonSet's command writes what it should, from the host's files alone."""
    pod = daemon_set["spec"]["template"]
    labels = daemon_set["spec"]["selector"]["matchLabels"].items()
    expect(labels <= pod["metadata"]["labels"].items(), "selects other pods than its own")
    expect(pod["spec"]["automountServiceAccountToken"] is False, "has a token of the API server")
    container = least_privilege(pod["spec"], capabilities)
    places = {"/host": work / "host", "/textfile": work / "textfile", "/features": work / "features"}
    mounted = {str(pathlib.PurePosixPath("/", *pathlib.PurePosixPath(mount["mountPath"]).parts[1:2]))
               for mount in container["volumeMounts"]}
    for path in mounted:
        places[path].mkdir(exist_ok=True)
    words = [str(places.get(word, word)).replace("/usr/share/gdrkit", f"{TREE}/share/gdrkit")
             for word in container["command"]]
    # Killed, it leaves its `sleep` behind, so the whole group ends.
    with subprocess.Popen(words, start_new_session=True) as process:
        try:
            end = time.monotonic() + 300
            while not all((work / file).exists() for file in files):
                expect(time.monotonic() < end and process.poll() is None, f"{words} wrote no {files}")
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            expect(process.wait(timeout=200) == 0, "does not end with its pod")
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    text = (work / "textfile/gdr.prom").read_text(encoding="utf-8")
    expect("\ngdr_doctor_exit_status 0\n" in text, f"judged something else than /host: {text}")
    for file in files:
        (work / file).unlink()


def gate(workload):
    """Its command is right use; without hardware, as in a pod without device plugins, it holds the pod back."""
    container = least_privilege(workload["spec"]["template"]["spec"], ["IPC_LOCK"])
    limits = workload["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    expect(container["resources"]["limits"] == limits, "the gate proves other devices than the job uses")
    environment = {"PATH": f"{TREE}/bin:/usr/bin:/bin"}
    expect("--require-hardware" in container["command"], "may pass as a simulation")
    done = run(*container["command"], env=environment)
    expect(done.returncode in (0, 1, 3) and not done.stderr, f"status {done.returncode}: {done.stderr}")
    simulated = [word.replace("--require-hardware", "--soft") for word in container["command"]]
    done = run(*simulated, env=environment)
    expect(done.returncode == 0, f"not to be had even from stand-ins: {done.stdout}")


def every_kind_of_workload(folder):
    """The gate is put before what a workload has already; one without the label stays as it is."""
    template = {"spec": {"initContainers": [{"name": "first", "image": "first"}],
                         "containers": [{"name": "main", "image": "main"}]}}
    made = folder / "kinds"
    made.mkdir()
    with open(made / "workloads.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump_all([{"apiVersion": version, "kind": kind,
                             "metadata": {"name": kind.lower(), "labels": labels}, "spec": {"template": template}}
                            for version, kind, labels in [
                                ("apps/v1", "Deployment", {"gdrkit.io/gate": "required"}),
                                ("apps/v1", "StatefulSet", {"gdrkit.io/gate": "required"}),
                                ("batch/v1", "Job", {"gdrkit.io/gate": "required"}),
                                ("apps/v1", "DaemonSet", {})]], file)
    (made / "kustomization.yaml").write_text("resources: [workloads.yaml]\ncomponents: [../gate]\n", encoding="ascii")
    for kind, workload in kustomized(made).items():
        names = {container["name"] for container in workload["spec"]["template"]["spec"]["initContainers"]}
        expect(names == ({"first"} if kind == "DaemonSet" else {"first", "gpudirect-rdma"}), f"{kind}: {names}")


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    manifests = scratch / "kubernetes"
    shutil.copytree(TREE / "share/gdrkit/clusters/kubernetes", manifests)
    files_parse(manifests)
    machine = Machine(scratch / "host")
    machine.host(gpus=1)
    if not shutil.which("kubectl") or run("kubectl", "kustomize", manifests / "example").returncode != 0 and \
            "components" in run("kubectl", "kustomize", manifests / "example").stderr:
        print("skipped: no kubectl that knows components (1.21 or newer); the files parse")
        sys.exit(77)
    found = kustomized(manifests / "doctor")
    expect(found["DaemonSet"]["metadata"]["namespace"] == found["Namespace"]["metadata"]["name"], "two namespaces")
    doctor(found["DaemonSet"], ["IPC_LOCK"], ["textfile/gdr.prom"], scratch)
    (manifests / "all").mkdir()
    (manifests / "all/kustomization.yaml").write_text(
        "resources: [../doctor]\ncomponents: [../options/pci-configuration, ../options/node-features]\n",
        encoding="ascii")
    doctor(kustomized(manifests / "all")["DaemonSet"], ["IPC_LOCK", "SYS_ADMIN"],
           ["textfile/gdr.prom", "features/gdrkit"], scratch)
    job = kustomized(manifests / "example")["Job"]
    gate(job)
    every_kind_of_workload(manifests)
    images = {container["image"] for pod in (job["spec"], found["DaemonSet"]["spec"])
              for container in pod["template"]["spec"].get("initContainers", pod["template"]["spec"]["containers"])}
    expect(images == {"registry.example.com/gdrkit:latest"}, f"two names of one image: {images}")
