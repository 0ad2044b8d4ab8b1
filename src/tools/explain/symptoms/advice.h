// What several symptoms are told to do, in the words of each table.
#pragma once

namespace gdr::explain {

constexpr const char* kLoadPeermem =
    "`sudo gdr fix peer-memory --apply`; `sudo modprobe nvidia-peermem`";
constexpr const char* kPeermemAtBoot = "`sudo gdr fix peer-memory --persist --apply`";
// Which RDMA drivers can do what: docs/handbook.md has the table.
constexpr const char* kEitherWay =
    "One way for good: dma-buf (NVIDIA's open kernel modules 515 or later, Linux 5.12 or later, "
    "CUDA 11.7), or `nvidia-peermem` with MLNX_OFED, DOCA-OFED or a kernel that has the "
    "peer-memory interface (Ubuntu's generic kernels 5.4 to 6.5, linux-nvidia).";
constexpr const char* kMoreLocked =
    "`ulimit -l unlimited`; for a container: `docker run --ulimit memlock=-1 --cap-add IPC_LOCK`; "
    "in "
    "Kubernetes: the capability `IPC_LOCK` in the container's securityContext";
constexpr const char* kMoreLockedForGood =
    "`sudo gdr fix locked-memory --persist --apply`; for root and everybody in "
    "`/etc/security/limits.d`, and `LimitMEMLOCK=infinity` for sshd, slurmd, containerd, docker; "
    "then a new login";

}  // namespace gdr::explain
