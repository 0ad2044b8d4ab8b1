// DeepEP, and how NVSHMEM below it starts: ranks, buffers, bootstrap, settings.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& expert_symptoms() {
  static const Symptoms table = {
      {.id = "deepep-config",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "DeepEP: the chunk sizes of its Config do not fit this number of ranks",
       .texts = {{"Assertion && num_max_nvl_chunked_"},
                 {"Assertion && num_max_rdma_chunked_"},
                 {"Assertion && num_warps_per_forwarder"},
                 {"Assertion && config.num_sms"}},
       .cause =
           "The condition in quotes names both sizes: what a rank may receive by NVLink, divided "
           "by "
           "the number of hosts, must be more than what is sent at a time. The defaults of the "
           "tests and of an own `Config(...)` fit fewer hosts.",
       .consequence = "The program stops before anything is sent; no NIC is concerned.",
       .checks = {},
       .fix_now =
           "`Buffer.get_dispatch_config(num_ranks)` and `Buffer.get_combine_config(num_ranks)` in "
           "place of an own Config; or a larger NVLink receive size (tests: `nvl_buffer_size = "
           "720`), or smaller chunks",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/issues/518", Stated::kCauseAndFix},
                   {"https://github.com/deepseek-ai/DeepEP/issues/114", Stated::kSymptom}},
       .explains = {"deepep-assertion", "verbs-call"}},
      {.id = "deepep-ranks",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "DeepEP was not built for this number of ranks, hosts or GPUs in a host",
       .texts = {{"Unsupported RDMA ranks"},
                 {"Assertion && Unsupported ranks"},
                 {"Assertion && NUM_MAX_NVL_PEERS"},
                 {"Assertion && NUM_MAX_RDMA_PEERS"},
                 {"Assertion && num_tokens_per_rdma_rank"},
                 {"Assertion && num_rdma_ranks <="},
                 {"Assertion && num_ranks % num_nvl_ranks"},
                 {"Assertion && num_experts % num_ranks"}},
       .cause =
           "The condition in quotes says which. Its kernels for several hosts want 8 GPUs in each "
           "host and a number of hosts that is compiled in (2, 4, 8, 16; 3 and others not); "
           "'num_tokens_per_rdma_rank': a test or call for one host (test_intranode) was run on "
           "several; 'num_experts': it must divide by the number of ranks.",
       .consequence = "The program stops before anything is sent; no NIC is concerned.",
       .checks = {},
       .fix_now =
           "`nvidia-smi -L`; then 8 ranks on each of 2, 4, 8 or 16 hosts and `test_internode.py`; "
           "other numbers: `low_latency_mode=True`, or the number added to the macro of "
           "`csrc/kernels/launch.cuh` and DeepEP built anew",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/issues/104", Stated::kCause},
                   {"https://github.com/deepseek-ai/DeepEP/blob/main/csrc/kernels/launch.cuh",
                    Stated::kCause},
                   {"https://github.com/deepseek-ai/DeepEP/issues/255", Stated::kSymptom},
                   {"https://github.com/deepseek-ai/DeepEP/issues/125", Stated::kSymptom}},
       .explains = {"deepep-assertion", "verbs-call"}},
      {.id = "deepep-buffer",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "DeepEP: a buffer is too small, or too large, for what is to be sent",
       .texts = {{"Assertion && num_rdma_bytes"},
                 {"Assertion && num_nvl_bytes"},
                 {"Assertion && num_buffer_bytes"},
                 {"Assertion && num_gpu_buffer_bytes"},
                 {"Assertion && num_max_dispatch_tokens_per_rank"}},
       .cause =
           "The condition in quotes names the buffer (`num_nvl_bytes` within a host, "
           "`num_rdma_bytes` between hosts) and the limit that it breaks: smaller than this number "
           "of tokens, ranks and hidden size needs, not a multiple of 128 bytes, or 2 GiB and "
           "more.",
       .consequence = "The program stops; no NIC is concerned.",
       .checks = {},
       .fix_now =
           "`Buffer.get_low_latency_rdma_size_hint(...)`, or for the normal mode the larger of "
           "`config.get_rdma_buffer_size_hint(...)` of both configs; SGLang: "
           "`SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK` above the largest batch of a rank",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/blob/main/README.md", Stated::kFix}},
       .explains = {"deepep-assertion", "verbs-call"}},
      {.id = "deepep-nvshmem",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "DeepEP could not start NVSHMEM, which moves its data between hosts",
       .texts = {{"Assertion && nvshmem_rank =="},
                 {"Assertion && nvshmem::init"},
                 {"Assertion && internode::init"},
                 {"Assertion && nvshmem_unique_id"}},
       .cause =
           "NVSHMEM below DeepEP did not start with the rank that was asked for: its lines before "
           "this one say why (no transport, no peer memory, bootstrap), or it had been started in "
           "this process before with other ranks.",
       .consequence = "The program stops.",
       .checks = {"peer-memory", "rdma-nics", "devices"},
       .fix_now = "`export NVSHMEM_DEBUG=INFO NVSHMEM_DEBUG_SUBSYS=INIT,TRANSPORT,BOOTSTRAP`; run "
                  "again, and give `gdr explain` the whole output",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/blob/main/csrc/deep_ep.cpp",
                    Stated::kCause}},
       .explains = {"deepep-assertion"}},
      {.id = "deepep-kernel-check",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title =
           "A kernel of DeepEP received what it does not expect: data out of order, or of a rank "
           "that failed",
       .texts = {{"Assertion failed: {}internode{}condition:"},
                 {"Assertion failed: {}internode_ll{}condition:"},
                 {"Assertion failed: {}deep_ep{}condition:"}},
       .cause =
           "The kernels count on the order in which the NIC writes. Adaptive routing in the "
           "switches "
           "changes it, which DeepEP handles only in newer releases and with the NVSHMEM that it "
           "asks for; virtual functions behind an IOMMU and another rank that has failed show the "
           "same.",
       .consequence = "The GPU's program is aborted, on all ranks.",
       .checks = {"iommu", "virtualisation", "lossless"},
       .fix_now =
           "The first error of every rank; a newer DeepEP with the NVSHMEM of its "
           "`third-party/README.md`; once with adaptive routing off for the class of this traffic "
           "(`NVSHMEM_IB_SL`), to tell the two apart",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/issues/49", Stated::kCause}},
       .explains = {"deepep-timeout", "cuda-error"}},
      {.id = "nvshmem-messages-mixed",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM's ranks receive messages that were meant for another step or rank "
                "(bootstrap)",
       .texts = {{"bootstrap_net_recv{}Message truncated"},
                 {"rank {number} of {number} ranks has already checked in"},
                 {"mismatch in rank count from procs"},
                 {"exchanged via bootstrap"}},
       .cause =
           "Before any RDMA the ranks exchange addresses by TCP. A message of another length than "
           "asked for means: two processes run with the same `RANK` (both hosts RANK=0), processes "
           "of an earlier run or with another NVSHMEM take part, a rank died in between, or, at "
           "random on busy hosts, a defect of the bootstrap UID up to NVSHMEM 3.7, which takes "
           "messages of one step for those of another.",
       .consequence = "NVSHMEM does not start; DeepEP stops.",
       .checks = {},
       .fix_now =
           "`env | grep -E '^(RANK|WORLD_SIZE|MASTER_)'`; on every host; `pgrep -af python`; end "
           "what is left of earlier runs; `export NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=INTERFACE`; "
           "`nvshmem-info -v`: one version everywhere",
       .fix_for_good = "`NVSHMEM_BOOTSTRAP=MPI` or PMIX where a launcher starts the job, or an "
                       "NVSHMEM with the repair of the bootstrap.",
       .sources = {{"https://github.com/NVIDIA/nvshmem/pull/97", Stated::kCause},
                   {"https://github.com/deepseek-ai/DeepEP/issues/121", Stated::kSymptom},
                   {"https://github.com/deepseek-ai/DeepEP/issues/223", Stated::kSymptom}},
       .explains = {"nvshmem-bootstrap", "nccl-bootstrap", "nvshmem-no-transport", "job-rendezvous",
                    "qp-values"}},
      {.id = "nvshmem-peer",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM has no way to a GPU: no transport to its host, or no peer access to it",
       .texts = {{"Peer GPU {number} is not accessible"}},
       .cause =
           "A GPU of another host: no transport between hosts was started "
           "(`nvshmem_transport_ibrc` "
           "not beside the library, no NIC or peer memory, `NVSHMEM_REMOTE_TRANSPORT=none`), which "
           "NVSHMEM says only with NVSHMEM_DEBUG=INFO. A GPU of this host: GPUs reach each other "
           "neither by NVLink nor by PCIe, and there is no NIC to go by.",
       .consequence = "NVSHMEM does not start.",
       .checks = {"rdma-nics", "peer-memory", "devices"},
       .fix_now = "`export NVSHMEM_DEBUG=INFO NVSHMEM_DEBUG_SUBSYS=TRANSPORT,TOPO`; run again; "
                  "`nvidia-smi "
                  "topo -p2p r`; `lsmod | grep peermem`; `export NVSHMEM_REMOTE_TRANSPORT=ibrc`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nvshmem/blob/main/src/host/topo/topo.cpp",
                    Stated::kCause},
                   {"https://github.com/pytorch/pytorch/issues/170479", Stated::kSymptom}},
       .explains = {"nvshmem-no-transport"}},
      {.id = "nvshmem-version",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "Parts of different NVSHMEM releases are mixed",
       .texts = {{"bootstrap version ({}is not compatible with NVSHMEM"},
                 {"selected bootstrap returned an incompatible version"},
                 {"UID Bootstrap versions not compatible"},
                 {"NVSHMEM device library version && host"},
                 {"nvshmem && version && mismatch"},
                 {"NCCL library major version && NVSHMEM was built"}},
       .cause =
           "The library of the host, the device code that the program was built with, the plugins "
           "(nvshmem_bootstrap_*, nvshmem_transport_*) or the other ranks are of another release: "
           "a wheel (nvidia-nvshmem-cu12) beside an own build, or two images.",
       .consequence = "NVSHMEM does not start, or leaves a part out.",
       .checks = {},
       .fix_now = "`pip list | grep -i nvshmem`; `nvshmem-info -v`; `ldconfig -p | grep nvshmem`; "
                  "leave one "
                  "in `LD_LIBRARY_PATH`, and build the program against it",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nvshmem/blob/main/src/modules/bootstrap/uid/"
                    "bootstrap_uid.cpp",
                    Stated::kCause},
                   {"https://github.com/deepseek-ai/DeepEP/issues/150", Stated::kCauseAndFix}},
       .explains = {"nvshmem-bootstrap", "nvshmem-no-transport"}},
      {.id = "nvshmem-setting",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "A setting of NVSHMEM has a value that it does not take",
       .texts = {{"NVSHMEM_IBGDA_NIC_HANDLER=cpu requires GDRCopy"},
                 {"NVSHMEM_IBGDA_{word} must "},
                 {"NVSHMEM_QP_DEPTH {}{number}"},
                 {"IBGDA_NUM_SHARED_DCI > IBGDA_NUM_DCI"},
                 {"IBGDA_DCI_MAP_BY is not valid"},
                 {"IBGDA_RC_MAP_BY is not valid"},
                 {"NVSHMEM_IBGDA_{word}={word} is not supported"},
                 {"Invalid NVSHMEM_BOOTSTRAP_UID_SESSION_ID"},
                 {"Plugin bootstrap requires NVSHMEM_BOOTSTRAP_PLUGIN"},
                 {"Environment variable conversion failed (NVSHMEM"}},
       .cause = "The line names the variable and what it may be. `NVSHMEM_IBGDA_NIC_HANDLER=cpu` "
                "needs GDRCopy; `auto`, `gpu` and `cpu_host_memory` do not.",
       .consequence = "NVSHMEM or its IBGDA transport does not start.",
       .checks = {},
       .fix_now = "`env | grep ^NVSHMEM_`; correct or unset the one that the line names",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/nvshmem/api/gen/env.html", Stated::kFix}},
       .explains = {"ibgda-refused", "nvshmem-no-transport", "nvshmem-bootstrap"}},
      {.id = "nvshmem-unequal-hosts",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "NVSHMEM wants the same number of processes on every host",
       .texts = {{"NVSHMEM requires the same number of PEs on all nodes"},
                 {"Number of PEs found doesn't match the PE node count"}},
       .cause =
           "One host has fewer processes than another: a process has not started or has died, or "
           "the launcher places them unevenly. Containers that share a host name look like one "
           "host.",
       .consequence = "NVSHMEM does not start.",
       .checks = {},
       .fix_now = "`hostname`; in every container: they must differ by host; `torchrun "
                  "--nproc-per-node=8 PROGRAM` with one number everywhere",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nvshmem/blob/main/src/host/init/init.cu",
                    Stated::kCause}},
       .explains = {"nvshmem-no-transport"}},
      {.id = "nvshmem-no-nic",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM has no NIC for this process: all were left out",
       .texts = {{"No NICs were assigned to our PE"},
                 {"found inactive port or port with non IB/RoCE link layer"},
                 {"ibgda{}No devices selected"},
                 {"ibrc{}No devices selected"}},
       .cause = "`NVSHMEM_HCA_LIST` or `NVSHMEM_HCA_PE_MAPPING` names other devices or ports than "
                "this host has, or the ports are down.",
       .consequence = "NVSHMEM has no transport between hosts.",
       .checks = {"rdma-nics", "port-state"},
       .fix_now = "`ibv_devinfo | grep -E 'hca_id|port:|state|link_layer'`; `env | grep "
                  "NVSHMEM_HCA`; unset them, or name ports that are active (`mlx5_0:1`)",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/nvshmem/api/gen/env.html", Stated::kFix}},
       .explains = {"nvshmem-no-transport"}},
  };
  return table;
}

}  // namespace gdr::explain
