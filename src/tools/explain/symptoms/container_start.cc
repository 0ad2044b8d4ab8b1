// Containers of GPU jobs that do not start: the container toolkit, CDI, enroot and pyxis, and what
// Slurm withholds from the job.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& container_start_symptoms() {
  static const Symptoms table = {
      {.id = "container-gpu-timeout",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "The container toolkit waits too long for the GPU's driver: persistence mode is off",
       .texts = {{"initialization error: driver rpc error"},
                 {"initialization error: nvcgo rpc error"},
                 {"initialization error: driver error: timed out"},
                 {"nvidia-container-cli: {}rpc error: timed out"}},
       .cause = "The toolkit asks the driver for its GPUs and gives up after some 10 seconds. "
                "Without persistence mode the driver starts every GPU anew for each such question, "
                "which takes longer than that on a host with many GPUs or under load. A GPU that "
                "hangs looks the same.",
       .consequence = "The container does not start; no NIC has been asked yet.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`sudo nvidia-smi -pm 1`; `time nvidia-smi -L`; takes a second or less now: "
                  "start the container again. Else `sudo dmesg | grep -E 'NVRM|Xid' | tail`",
       .fix_for_good = "`sudo systemctl enable --now nvidia-persistenced`",
       .sources = {{"https://github.com/NVIDIA/nvidia-container-toolkit/issues/202",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nvidia-container-toolkit/issues/2102",
                    Stated::kCause}},
       .explains = {"container-no-gpu", "enroot-nvidia-hook", "container-start"}},
      {.id = "image-needs-newer-driver",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The image wants a newer CUDA than the host's GPU driver can",
       .texts = {{"requirement error: unsatisfied condition"},
                 {"unsatisfied condition: cuda"},
                 {"use an earlier cuda container"}},
       .cause = "The image names the CUDA that it was built for (`cuda>=12.8` in the line), and "
                "the driver of the host is older.",
       .consequence = "The container does not start; no NIC has been asked yet.",
       .checks = {"gpu-driver"},
       .fix_now = "`nvidia-smi | head -4`; its CUDA version is the newest that this driver can: "
                  "take an image of that or an older CUDA, or update the driver. `docker run "
                  "--gpus all -e NVIDIA_DISABLE_REQUIRE=1 IMAGE`; starts it in any case",
       .fix_for_good = "A newer driver on every host of the job.",
       .sources = {{"https://github.com/NVIDIA/nvidia-docker/issues/1442", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nvidia-container-toolkit/issues/152", Stated::kFix}},
       .explains = {"container-no-gpu", "enroot-nvidia-hook", "container-start"}},
      {.id = "container-ldcache",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The container toolkit cannot run ldconfig for the container",
       .texts = {{"nvidia-container-cli: ldcache error"},
                 {"ldcache error: process"},
                 {"ldcache error: open failed"}},
       .cause = "'open failed' or 'No such file': the configuration names the ldconfig of another "
                "distribution (`ldconfig.real` is Ubuntu's). 'terminated with signal 9': it was "
                "killed, mostly by the memory limit of the job or container. 'failed with error "
                "code': the image's libraries or its cache are damaged.",
       .consequence = "The container does not start; no NIC has been asked yet.",
       .checks = {},
       .fix_now = "`grep ldconfig /etc/nvidia-container-runtime/config.toml`; `ls /sbin/ldconfig "
                  "/sbin/ldconfig.real`; `sudo dmesg -T | grep -i oom | tail`; then the right path "
                  "there, or more memory for the job",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/pyxis/issues/122", Stated::kSymptom}},
       .explains = {"container-no-gpu", "enroot-nvidia-hook", "container-start"}},
      {.id = "container-driver-mount",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "The container toolkit cannot put the driver's files or device rules into the container",
       .texts = {{"nvidia-container-cli: mount error"},
                 {"nvidia-container-cli: container error: cgroup"},
                 {"mount error: file creation failed"},
                 {"mount error: failed to add device rules"},
                 {"bpf_prog_query(BPF_CGROUP_DEVICE) failed"}},
       .cause = "'file exists': the image holds files of a driver itself (it was made from a "
                "container that ran with GPUs). 'operation not permitted' or 'permission denied': "
                "a container without root may not mount there, such as the socket of "
                "nvidia-persistenced. 'device rules', 'cgroup' or 'bpf': the toolkit is too old "
                "for cgroups v2, or the runtime runs without root.",
       .consequence = "The container does not start; no NIC has been asked yet.",
       .checks = {"devices"},
       .fix_now =
           "`nvidia-container-cli --version`; without root: `sudo nvidia-ctk config --set "
           "nvidia-container-cli.no-cgroups --in-place`; 'file exists': the image built anew "
           "without `libcuda.so*` and `nvidia-smi` of its own; 'nvidia-persistenced/socket': `sudo "
           "systemctl stop nvidia-persistenced`; and `nvidia-smi -pm 1` in its place",
       .fix_for_good =
           "A recent container toolkit with CDI (`nvidia-ctk cdi generate`), which needs no hook.",
       .sources = {{"https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
                    "troubleshooting.html",
                    Stated::kFix},
                   {"https://github.com/SlinkyProject/slurm-operator/issues/99", Stated::kSymptom}},
       .explains = {"container-no-gpu", "enroot-nvidia-hook", "container-start"}},
      {.id = "container-driver-library",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The container toolkit finds no working GPU driver on the host",
       .texts = {{"initialization error: load library failed"},
                 {"initialization error: cuda error"},
                 {"initialization error: nvml error"},
                 {"nvidia-container-cli: detection error"}},
       .cause = "The driver's libraries are not where the loader of the host looks "
                "(`libnvidia-ml.so.1`, `libcuda.so.1`): no driver is installed there, it is in a "
                "container of its own (`/run/nvidia/driver`), or the module is not loaded. On WSL "
                "and snap's Docker the toolkit does not see them.",
       .consequence = "The container does not start with GPUs.",
       .checks = {"gpu-driver", "gpus"},
       .fix_now = "`nvidia-smi -L`; on the host itself. It fails: the driver comes first. It "
                  "works: `sudo ldconfig`; `ldconfig -p | grep -E 'libcuda.so.1|libnvidia-ml'`; "
                  "and Docker of the distribution or of Docker in place of the snap",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
                    "troubleshooting.html",
                    Stated::kSymptom}},
       .explains = {"container-no-gpu", "enroot-nvidia-hook", "container-start"}},
      {.id = "cdi-devices",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The runtime knows no CDI device of that name: its specification is missing or old",
       .texts = {{"unresolvable CDI devices"},
                 {"could not resolve CDI devices"},
                 {"CDI device injection failed"},
                 {"failed to inject CDI devices"},
                 general("CDI spec && {fails}"),
                 general("CDI specs && {fails}"),
                 general("can not create CDI json"),
                 general("nvidia-ctk && {fails}"),
                 general("CDI && nvidia && {fails}"),
                 {"error setting CDI devices"},
                 {"nvidia-container-cli: device error: {}unknown device"}},
       .cause = "Devices are named `nvidia.com/gpu=0` in the files of `/etc/cdi` or "
                "`/var/run/cdi`, which `nvidia-ctk` writes once: they are missing, or older than "
                "the GPUs, MIG parts or driver of now. A RDMA device plugin with `useCdi` needs a "
                "runtime that has CDI switched on. 'unknown device' without CDI: "
                "`NVIDIA_VISIBLE_DEVICES` names a GPU that is not here.",
       .consequence = "The container does not start.",
       .checks = {"gpus"},
       .fix_now = "`sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`; `nvidia-ctk cdi "
                  "list`; `nvidia-smi -L`; containerd before 2.0: `enable_cdi = true` in "
                  "`/etc/containerd/config.toml`",
       .fix_for_good = "The unit nvidia-cdi-refresh of the toolkit (1.18 and later), which writes "
                       "them at boot.",
       .sources = {{"https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
                    "cdi-support.html",
                    Stated::kFix}},
       .explains = {"container-no-gpu", "container-start"}},
      {.id = "enroot-nvidia-hook",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The compute node has no nvidia-container-cli, which gives enroot's containers "
                "their GPUs",
       .texts = {{"Command not found: nvidia-container-cli"},
                 {"nvidia-container-cli: command not found"},
                 {"nvidia-container-cli: executable file not found"},
                 {"exec: 'nvidia-container-cli': executable file not found"}},
       .cause = "enroot's hook `98-nvidia.sh` calls it. The package is missing on this node (or is "
                "installed on the login node only), or is not in the `PATH` of slurmd.",
       .consequence = "Slurm's container does not start with GPUs.",
       .checks = {},
       .fix_now = "`sudo apt-get install libnvidia-container-tools`; or `sudo dnf install "
                  "libnvidia-container-tools`; on each compute node, from NVIDIA's container "
                  "toolkit repository; `nvidia-container-cli info`",
       .fix_for_good = "The package in the image of the compute nodes.",
       .sources = {{"https://github.com/NVIDIA/pyxis/issues/110", Stated::kCause},
                   {"https://github.com/NVIDIA/enroot/blob/master/doc/requirements.md",
                    Stated::kFix}},
       .explains = {"container-start"}},
      {.id = "enroot-mellanox-hook",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "MELLANOX_VISIBLE_DEVICES names a NIC that this node does not have",
       .texts = {{"Unknown MELLANOX device id"}},
       .cause = "enroot's hook `99-mellanox.sh` gives the container the NICs whose numbers stand "
                "in that variable. They count the RDMA devices of the node from 0, and here there "
                "are fewer.",
       .consequence = "Slurm's container does not start.",
       .checks = {"rdma-nics"},
       .fix_now = "`ls /sys/class/infiniband`; then `export MELLANOX_VISIBLE_DEVICES=all`; or the "
                  "numbers of NICs that are there",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/enroot/blob/master/conf/hooks/99-mellanox.sh",
                    Stated::kCause}},
       .explains = {"container-start"}},
      {.id = "enroot-kernel",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "enroot needs a feature of the kernel that is switched off on this node",
       .texts = {{"failed to create user namespace"},
                 {"failed to register seccomp filter"},
                 {"pyxis: seccomp filter failed"},
                 {"pyxis: couldn't join {}namespace"},
                 {"kernel lacks support for ambient capabilities"}},
       .cause =
           "enroot starts containers without root: it needs user namespaces and seccomp. Red Hat 7 "
           "has user namespaces limited to 0, Ubuntu 24.04 restricts them by AppArmor, and a "
           "container or a kernel of one's own may have no seccomp ('Function not implemented').",
       .consequence = "Slurm's container does not start.",
       .checks = {},
       .fix_now = "`sysctl user.max_user_namespaces kernel.unprivileged_userns_clone "
                  "kernel.apparmor_restrict_unprivileged_userns`; `sudo sysctl -w "
                  "user.max_user_namespaces=100000`; `sudo sysctl -w "
                  "kernel.apparmor_restrict_unprivileged_userns=0`",
       .fix_for_good = "The same lines in `/etc/sysctl.d`.",
       .sources = {{"https://github.com/NVIDIA/enroot/blob/master/doc/requirements.md",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/pyxis/issues/42", Stated::kSymptom}},
       .explains = {"container-start"}},
      {.id = "slurm-spank-plugin",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "Slurm's container plugin (pyxis) is not loaded, or not alike on all nodes",
       .texts = {{"SPANK plugin '{word}' option '{word}' not found"},
                 {"unrecognized option '--container-"},
                 {"invalid option -- container-"},
                 {"provided by both plugin"},
                 general("plugstack.conf && {fails}"),
                 general("spank && Incompatible Slurm plugin"),
                 general("pyxis && not loaded"),
                 general("container-image && silently ignored")},
       .cause =
           "srun and slurmd both have to load `spank_pyxis.so`, from the `plugstack.conf` of the "
           "login node and of each compute node, built for this release of Slurm. slurmd reads it "
           "when it starts: one that ran before, or that gets its files by the controller "
           "(configless), does not know it. 'provided by both': it is included twice.",
       .consequence = "The job runs outside of the container, or not at all.",
       .checks = {},
       .fix_now = "`srun --help | grep container-image`; `cat /etc/slurm/plugstack.conf "
                  "/etc/slurm/plugstack.conf.d/*`; the same on each compute node, then `sudo "
                  "systemctl restart slurmd`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/pyxis/wiki/Installation", Stated::kFix},
                   {"https://github.com/aws-samples/sample-physical-ai-scaffolding-kit/issues/5",
                    Stated::kCause},
                   {"https://github.com/NVIDIA/pyxis/issues/84", Stated::kSymptom}},
       .explains = {"container-start"}},
      {.id = "container-image",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The container's image cannot be fetched: its name or the credentials",
       .texts = {general("URL {word} returned error code: {number}"), general("ErrImagePull"),
                 general("ImagePullBackOff"), general("pull access denied for"),
                 general("manifest unknown"), general("Could not process JSON input")},
       .cause = "401 and 403: the registry wants a name and password, or knows no such image. 404: "
                "no such image or tag. enroot and pyxis separate the registry from the image by "
                "`#`, not by a slash.",
       .consequence = "The container does not start; no GPU or NIC is concerned.",
       .checks = {},
       .fix_now = "`srun --container-image=nvcr.io#nvidia/pytorch:25.01-py3 true`; credentials in "
                  "`~/.config/enroot/.credentials`; in Kubernetes an imagePullSecret",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/enroot/blob/master/doc/cmd/import.md", Stated::kFix},
                   {"https://github.com/NVIDIA/pyxis/issues/78", Stated::kSymptom}},
       .explains = {"container-start"}},
      {.id = "memlock-not-raised",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The limit of locked memory may not be raised here",
       .texts = {{"setting rlimit type 8"},
                 {"setrlimit && MEMLOCK && {fails}"},
                 {"set memlock limit && {fails}"},
                 {"RLIMIT_MEMLOCK && {EPERM}"},
                 {"ulimit: max locked memory: cannot modify limit"},
                 {"ulimit: {}locked memory && {fails}"},
                 {"memlock && {EPERM}"},
                 {"Can't propagate RLIMIT_MEMLOCK"}},
       .cause =
           "Nobody but root (with the capability `SYS_RESOURCE`) may raise a hard limit, and a "
           "container gets no more than its runtime has: a rootless runtime, or a dockerd, "
           "containerd or slurmd that was started with a lower limit.",
       .consequence = "The container or job does not start, or RDMA in it fails for want of locked "
                      "memory.",
       .checks = {"locked-memory"},
       .fix_now = "`systemctl show -p LimitMEMLOCK docker containerd slurmd`; `ulimit -Hl`",
       .fix_for_good = kMoreLockedForGood,
       .sources = {{"https://man7.org/linux/man-pages/man2/getrlimit.2.html", Stated::kCause}},
       .explains = {"locked-memory"}},
      {.id = "container-device-folder",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The container runtime was given a folder in place of a device (/dev/infiniband)",
       .texts = {{"could not get device: not a device node"},
                 {"not a device node && {fails}"},
                 {"is not a device node"}},
       .cause = "Docker gives all devices of a folder; other runtimes (Singularity's and "
                "Apptainer's, containerd, CRI-O) take single devices only.",
       .consequence = "The container does not start.",
       .checks = {"devices"},
       .fix_now = "`ls /dev/infiniband`; each of `uverbsN`, and `rdma_cm`, by itself in the device "
                  "plugin's configuration or by `--device`; in Kubernetes a current RDMA device "
                  "plugin, which lists them one by one",
       .fix_for_good = "",
       .sources = {{"https://github.com/sylabs/singularity-cri/issues/352", Stated::kSymptom}},
       .explains = {}},
      {.id = "slurm-gres",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "Slurm finds other GPUs on the node than its configuration says",
       .texts = {general("count reported lower than configured"),
                 general("can't stat gres.conf file"), general("Waiting for gres.conf file"),
                 general("configured to autodetect nvml"), general("gres.conf duplicate records"),
                 general("Invalid generic resource (gres) specification"),
                 general("file-less GPU {word} from final GRES")},
       .cause = "slurmd counted the GPUs when it started: the GPU's driver was not loaded yet, a "
                "GPU is gone, MIG was changed, or slurmd was built without NVML (`AutoDetect=nvml` "
                "then fails). 'duplicate records': `AutoDetect=nvml` stands alone, without lines "
                "for each GPU. 'Invalid generic resource': `GresTypes=gpu` or the node's `Gres=` "
                "is missing in slurm.conf.",
       .consequence = "The node is drained, or jobs get no GPU; GPUDirect RDMA is not concerned.",
       .checks = {"gpus"},
       .fix_now = "`nvidia-smi -L`; `slurmd -G`; `sudo systemctl restart slurmd`; `sudo scontrol "
                  "update nodename=NODE state=resume`",
       .fix_for_good = "slurmd ordered after nvidia-persistenced in systemd.",
       .sources = {{"https://slurm.schedmd.com/gres.html", Stated::kCause},
                   {"https://github.com/ComputeCanada/puppet-magic_castle/issues/27",
                    Stated::kCauseAndFix},
                   {"https://github.com/awslabs/awsome-distributed-ai/issues/195", Stated::kFix}},
       .explains = {}},
      {.id = "slurm-cgroup",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "slurmd cannot set up the control groups of jobs",
       .texts = {general("cgroup_dbus_attach_to_scope"), general("cannot create cgroup context"),
                 general("cannot initialize cgroup"), general("Unable to initialize cgroup plugin"),
                 general("unable to create cgroup"), general("slurmd && cgroup && {fails}"),
                 general("slurmstepd && cgroup && {fails}"), general("xcgroup && {fails}")},
       .cause = "With cgroups v2 slurmd asks systemd by D-Bus for a scope of its own; in a "
                "container neither is there. 'No space left on device': the kernel has too many "
                "groups left over, or no CPUs in the parent's.",
       .consequence = "slurmd or the job's step does not start; GPUDirect RDMA is not concerned.",
       .checks = {},
       .fix_now = "`stat -fc %T /sys/fs/cgroup`; in a container `IgnoreSystemd=yes` in "
                  "`/etc/slurm/cgroup.conf`; on a host `sudo systemctl reset-failed`; then `sudo "
                  "systemctl restart slurmd`",
       .fix_for_good = "",
       .sources = {{"https://slurm.schedmd.com/cgroup_v2.html", Stated::kCauseAndFix},
                   {"https://github.com/stackhpc/slurm-k8s-cluster/issues/38", Stated::kSymptom}},
       .explains = {}},
      {.id = "pyxis-option",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "pyxis refuses an option of the job: the line says which",
       .texts = {{"pyxis: --container-"},
                 {"pyxis: both --container-"},
                 {"pyxis: both --no-container-"},
                 {"flag was passed to --container-name"},
                 {"pyxis: error: --container-"},
                 {"--container-image is not set"},
                 {"pyxis: unknown configuration option"},
                 general("pyxis: {}invalid value")},
       .cause = "The option is given twice, without its value, in the wrong form, or with a path "
                "that is not there. A source of `--container-mounts` must exist on the compute "
                "node, which is not the login node; devices such as `/dev/infiniband/uverbs0` too.",
       .consequence = "The job's step does not start.",
       .checks = {},
       .fix_now = "`srun --help | grep -A3 container-`; `srun -w NODE ls -d PATH`; with the path "
                  "in the line",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/pyxis/blob/master/args.c", Stated::kCause}},
       .explains = {"container-start"}},
      {.id = "container-start",
       .program = Program::kContainers,
       .certainty = Certainty::kPossible,
       .title = "Slurm's container did not start (pyxis, enroot): enroot's own lines say why",
       .texts = {fallback("pyxis: couldn't start container"),
                 fallback("pyxis: container start failed"),
                 fallback("pyxis: container exited too soon"),
                 fallback("pyxis: failed to import docker image"),
                 fallback("spank_pyxis.so: task_init() failed"),
                 fallback("Failed to invoke spank plugin stack"),
                 fallback("hooks.d/{word}.sh exited with return code"),
                 fallback("enroot-{word}: failed to"), fallback("pyxis: {}fail"),
                 fallback("pyxis: {}unable"), fallback("pyxis: {}error"),
                 fallback("pyxis: could not"), fallback("pyxis: couldn't"),
                 fallback("pyxis: child {number} {word} with"),
                 fallback("/bin/enroot: line {number}")},
       .cause = "The lines between 'printing enroot log file' and this one name the hook or call "
                "that failed. Where they are missing, enroot's own log on the node has them: the "
                "hook that gives GPUs (`98-nvidia.sh`) or NICs (`99-mellanox.sh`), a folder that "
                "cannot be written (`ENROOT_RUNTIME_PATH`), a mount whose source is missing, or a "
                "prolog that fails.",
       .consequence = "The job's step ends at once; no NIC has been asked yet.",
       .checks = {},
       .fix_now = "`srun -N1 --container-image=ubuntu:22.04 true`; `sudo journalctl -u slurmd -n "
                  "50`; both on the node in the line",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/pyxis/wiki/Setup", Stated::kFix},
                   {"https://github.com/NVIDIA/pyxis/issues/135", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
