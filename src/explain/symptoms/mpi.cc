// UCX and Open MPI.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& mpi_symptoms() {
  static const Symptoms table = {
      {.id = "ucx-gpu-memory",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX has no way to move GPU memory",
       .texts = {{"no copy across memory types transport"}},
       .cause = "`UCX_TLS` leaves `cuda_copy` out, or UCX was built without CUDA. A UCX that finds "
                "no `nvidia-peermem` does not register GPU memory with the NIC, even where dma-buf "
                "would work, and then needs `cuda_copy` for everything.",
       .consequence = "The program stops; with `cuda_copy` added, data goes through host memory "
                      "unless `nvidia-peermem` is loaded.",
       .checks = {"peer-memory", "registration-path", "mpi-ucx"},
       .fix_now = "`UCX_TLS=rc,cuda_copy,cuda_ipc,sm,self` (or unset it); `sudo modprobe "
                  "nvidia-peermem`; `ucx_info -d | grep -A3 cuda`",
       .fix_for_good = "A UCX built with CUDA, and `nvidia-peermem` loaded at boot.",
       .sources = {{"https://github.com/openucx/ucx/pull/11002", Stated::kCause},
                   {"https://github.com/openucx/ucx/issues/10929", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/3174", Stated::kSymptom}},
       .explains = {}},
      {.id = "ucx-unreachable",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX finds no transport to the peer",
       .texts = {{"UCX ERROR no active messages transport to"},
                 {"no active messages transport to <no debug data>"}},
       .cause = "No NIC is usable: its device is missing in the container, `UCX_NET_DEVICES` or "
                "`UCX_TLS` name others on each side, or UCX was built without verbs. The line "
                "names each transport with its reason.",
       .consequence = "The program stops at its first message.",
       .checks = {"rdma-nics", "devices", "mpi-ucx"},
       .fix_now = "`ucx_info -d` on both sides; unset `UCX_TLS` and `UCX_NET_DEVICES`.",
       .fix_for_good = "",
       .sources = {{"https://github.com/openucx/ucx/issues/4742", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/8440", Stated::kSymptom}},
       .explains = {}},
      {.id = "openfabrics-device",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "Open MPI could not use the NIC by its old openib transport",
       .texts = {{"WARNING: There was an error initializing an OpenFabrics device."},
                 {"No OpenFabrics connection schemes reported that they were able to be"}},
       .cause = "Open MPI 4 leaves InfiniBand to UCX; where UCX is used, the warning is harmless. "
                "With `Cannot allocate memory` beside it, it is the limit of locked memory.",
       .consequence = "None with UCX; without it, MPI goes over TCP.",
       .checks = {"mpi-ucx", "locked-memory"},
       .fix_now = "`mpirun --mca pml ucx --mca btl ^openib`",
       .fix_for_good = "An Open MPI that was built with UCX (`ompi_info | grep ucx`).",
       .sources = {{"https://github.com/shankar1729/jdftx/issues/270", Stated::kCause},
                   {"https://github.com/open-mpi/ompi/issues/6517", Stated::kSymptom},
                   {"https://github.com/open-mpi/ompi/issues/10693", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
