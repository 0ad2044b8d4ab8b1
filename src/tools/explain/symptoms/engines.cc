// Inference engines and frameworks above the libraries that move data: vLLM and NIXL, PyTorch.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& engine_symptoms() {
  static const Symptoms table = {
      {.id = "nixl-engine-id",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "vLLM asked the wrong process for its NIXL description: the side channel's address",
       .texts = {{"NIXL agent engine ID mismatch"},
                 {"engine ID mismatch. Expected"},
                 {"engine_id mismatch && NIXL"}},
       .cause =
           "The decode side connects to the address of the side channel that prefill announced, "
           "and "
           "another engine answers there: `VLLM_NIXL_SIDE_CHANNEL_HOST` was not set, so that it is "
           "localhost, or two engines of one host have the same port. Or prefill has restarted and "
           "has another identity now.",
       .consequence = "The KV cache is not fetched; decode computes the prompt anew.",
       .checks = {},
       .fix_now =
           "`export VLLM_NIXL_SIDE_CHANNEL_HOST=ADDRESS VLLM_NIXL_SIDE_CHANNEL_PORT=5600`; on each "
           "host its own address, and another port for each engine of a host",
       .fix_for_good = "",
       .sources = {{"https://github.com/vllm-project/vllm/issues/27083", Stated::kCauseAndFix}},
       .explains = {"nixl-handshake", "nixl-error", "kv-transfer"}},
      {.id = "nixl-handshake",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "vLLM's NIXL handshake failed: the two engines did not exchange their descriptions",
       .texts = {{"handshake_setup_failed"},
                 {"nixl_connector{}Handshake failed"},
                 {"NIXL handshake{}{fails}"},
                 {"NIXL compatibility hash mismatch"},
                 {"NIXL transfer failure: handshake"},
                 {"Handshake from peer {word} not received"},
                 {"nixl{}handshake{}timed out"}},
       .cause =
           "Before any transfer decode asks prefill over TCP (the side channel, port 5600) for its "
           "memory. That port is not reached (host name, firewall, the variable of the side "
           "channel "
           "not set), the other engine has ended, or, 'hash mismatch', it runs another release, "
           "model or layout of the KV cache.",
       .consequence = "The request fails or is computed anew.",
       .checks = {},
       .fix_now =
           "The first error in the log of the other engine; `nc -vz ADDRESS 5600`; `export "
           "VLLM_NIXL_SIDE_CHANNEL_HOST=ADDRESS`; `pip show vllm nixl`: one release on both sides",
       .fix_for_good = "",
       .sources = {{"https://docs.vllm.ai/en/latest/features/nixl_connector_usage.html",
                    Stated::kFix},
                   {"https://github.com/vllm-project/vllm/pull/41863", Stated::kSymptom}},
       .explains = {"nixl-error", "kv-transfer"}},
      {.id = "nixl-disconnect",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "NIXL lost its peer: the other process ended, or the connection to it broke",
       .texts = {{"NIXL_ERR_REMOTE_DISCONNECT"},
                 {"nixlRemoteDisconnectError"},
                 {"genNotif: no specified or potential backend"},
                 {"NIXL && remote disconnect"}},
       .cause =
           "Likeliest first: the other engine has ended or restarted (its log says why); the NIC's "
           "link or the network between the two broke for longer than UCX waits; the peer was only "
           "just started and is not reached yet. NIXL then forgets the peer, and every later "
           "transfer to it fails as not found; where two threads add it again at the same time, "
           "UCX "
           "ends at an assertion of its own (ud_ep.c).",
       .consequence =
           "Transfers to this peer fail until it is added again; most engines have to be "
           "restarted.",
       .checks = {"port-state", "port-errors"},
       .fix_now = "The log of the other engine at the same second, and `sudo dmesg -T | grep -E "
                  "'mlx5|link' "
                  "| tail`; it still runs: restart both engines; RoCE that loses packets: "
                  "`UCX_RC_TIMEOUT=2s UCX_RC_RETRY_COUNT=7`",
       .fix_for_good = "A release of the engine that removes the peer and adds it again once.",
       .sources = {{"https://github.com/wtdcode/vllm-backport/issues/33", Stated::kCause},
                   {"https://github.com/ModelTC/LightLLM/issues/1470", Stated::kCause},
                   {"https://github.com/ai-dynamo/nixl/issues/1983", Stated::kSymptom}},
       .explains = {"nixl-not-found", "nixl-error", "kv-transfer", "ucx-call"}},
      {.id = "nixl-not-found",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "NIXL does not know this agent, memory or backend (any more)",
       .texts =
           {{"NIXL_ERR_NOT_FOUND"},
            {"nixlNotFoundError"},
            {"Metadata for remote agent {word} not found"},
            {"No connection found for remote agent"},
            {"No connection found for agent"},
            {"Could not find connection for agent"},
            {"A backend capable of creating a list of {word} memory descriptors was not found"}},
       .cause =
           "The peer's description was not loaded (`add_remote_agent`), was dropped after a lost "
           "connection, or the memory was not registered with a backend that both sides have.",
       .consequence = "The transfer is not started.",
       .checks = {},
       .fix_now =
           "The first error of NIXL or UCX in the logs of both sides; the same backend and the "
           "same registered buffers on both; then restart both engines",
       .fix_for_good = "",
       .sources = {{"https://github.com/ai-dynamo/nixl/blob/main/docs/nixl.md", Stated::kCause}},
       .explains = {"nixl-error", "kv-transfer"}},
      {.id = "nixl-efa-backend",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "NIXL's libfabric backend does not find its NICs or how they lie to the GPUs",
       .texts = {{"No network devices found with any provider"},
                 {"No network devices discovered; cannot create rails"},
                 {"Failed to create rails:"},
                 {"Failed to discover hwloc topology"},
                 {"Failed to discover EFA devices with hwloc"},
                 {"No rails available"},
                 {"No rails selected for"},
                 {"Failed to initialize libfabric backend"},
                 {"Failed to build PCIe to {word} mapping"},
                 {"Memory type {number} is not supported by libfabric backend"}},
       .cause =
           "The container has no EFA or cxi device, libfabric has no provider for it, or /sys with "
           "the PCI tree is not in the container.",
       .consequence = "The backend LIBFABRIC is not created.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "`fi_info -p efa`; `ls /dev/infiniband /sys/class/infiniband`; in Kubernetes the "
                  "resource `vpc.amazonaws.com/efa`; else the backend UCX",
       .fix_for_good = "",
       .sources = {{"https://github.com/ai-dynamo/nixl/tree/main/src/plugins/libfabric",
                    Stated::kCause}},
       .explains = {"nixl-error"}},
      {.id = "nixl-without-rdma",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title =
           "NIXL's UCX does not use the NIC: it was built without it, or EFA wants another backend",
       .texts = {{"EFA && UCX && software emulation"},
                 {"UCX && software emulation layer"},
                 {"detected, but accelerated IB support was not found"},
                 {"EFA(s) were detected, but the UCX backend"},
                 {"detected, but UCX CUDA support was not found"}},
       .cause = "The UCX that NIXL loads lacks a part: 'IB support': no mlx5 transports (no "
                "rdma-core when "
                "it was built or here), 'CUDA support': GPU memory cannot be used at all. On "
                "Amazon's EFA "
                "the backend LIBFABRIC is the one for RDMA.",
       .consequence = "Transfers go over TCP or slower transports, or GPU memory is refused.",
       .checks = {"mpi-ucx", "rdma-nics"},
       .fix_now =
           "`ucx_info -v`; `ucx_info -d | grep -E 'Transport|Device'`; it must list rc_mlx5 and "
           "cuda_copy; on EFA: `--kv-transfer-config` with the backend LIBFABRIC",
       .fix_for_good =
           "A UCX built `--with-cuda --with-verbs --with-mlx5`, or the wheel nixl with its "
           "own.",
       .sources = {{"https://github.com/ai-dynamo/nixl/blob/main/src/plugins/ucx/ucx_utils.cpp",
                    Stated::kCause}},
       .explains = {"nixl-vram", "nixl-error"}},
      {.id = "engine-package-absent",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "The package that moves the data (NIXL, Mooncake, DeepEP) is not in this Python",
       .texts = {{"No module named 'nixl"},
                 {"No module named 'mooncake"},
                 {"No module named 'deep_ep"},
                 {"No module named 'nvshmem"},
                 {"No module named 'uccl"},
                 {"NIXL is not available"},
                 {"Please install mooncake"},
                 {"DeepEP is not installed"}},
       .cause = "The engine has a connector for it, and the package is not installed in the "
                "environment or image in which it runs, or for another Python.",
       .consequence = "The engine does not start with this connector; no NIC has been asked yet.",
       .checks = {},
       .fix_now =
           "`python3 -m pip list | grep -iE 'nixl|mooncake|deep-ep|nvshmem|uccl'`; `pip install "
           "nixl`; or `pip install mooncake-transfer-engine`; DeepEP is built from its sources",
       .fix_for_good = "An image that has it.",
       .sources = {{"https://docs.vllm.ai/en/latest/features/nixl_connector_usage.html",
                    Stated::kFix}},
       .explains = {"nixl-error", "nixl-plugin"}},
      {.id = "jax-start",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "JAX's processes do not find each other at the start: no RDMA is involved yet",
       .texts = {{"PjRT_Client_Connect"},
                 {"Barrier timed out{}Id: "},
                 {"DEADLINE_EXCEEDED && coordination"},
                 {"coordination service && {fails}"},
                 {"coordination_service && {fails}"},
                 {"jax.distributed.initialize && {fails}"}},
       .cause =
           "A process has not started or has failed before, or the coordinator's address and port "
           "(`JAX_COORDINATOR_ADDRESS`, the first argument of `jax.distributed.initialize`) are "
           "not reached from this host.",
       .consequence = "The job does not start; neither NCCL nor a NIC has been used.",
       .checks = {},
       .fix_now = "The first error in the log of every process; `nc -vz ADDRESS PORT`; the same "
                  "`num_processes` everywhere, and a `process_id` of its own for each",
       .fix_for_good = "",
       .sources = {{"https://docs.jax.dev/en/latest/multi_process.html", Stated::kFix}},
       .explains = {"job-rendezvous"}},
      {.id = "symmetric-memory-hosts",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "PyTorch's symmetric memory was used between hosts with a backend for one host",
       .texts = {{"failed to send fd"},
                 {"failed to recv fd"},
                 {"SymmetricMemory{}overlapping devices"},
                 {"symmetric memory && multiple nodes"},
                 {"symm_mem{}across multiple nodes"}},
       .cause =
           "The default backend (CUDA) hands memory on as file descriptors through sockets of this "
           "host, and each rank must have a GPU of its own. Between hosts it works only within one "
           "NVLink domain (IMEX); no NIC is involved.",
       .consequence = "`rendezvous()` fails.",
       .checks = {},
       .fix_now = "`symm_mem.set_backend(\"NVSHMEM\")` or `\"NCCL\"` before the first allocation; "
                  "within one host: `torch.cuda.set_device(local_rank)`, and no "
                  "`expandable_segments:True`",
       .fix_for_good = "",
       .sources = {{"https://github.com/pytorch/pytorch/pull/171502", Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "nccl-window",
       .program = Program::kNccl,
       .certainty = Certainty::kPossible,
       .title = "NCCL could not register a window of symmetric memory",
       .texts = {{"Failed to window register"},
                 {"NCCLSymmetricMemory{}{fails}"},
                 {"NCCLSymmetricMemory.cu"},
                 {"ncclCommWindowRegister && {fails}"}},
       .cause = "Invalid argument: it is the first operation on this communicator, which is not "
                "connected yet; or the memory is not from `ncclMemAlloc` (a plain tensor), or "
                "differs in "
                "size among the ranks. The NIC's registration is another matter.",
       .consequence = "`rendezvous()` fails.",
       .checks = {"nccl-version"},
       .fix_now = "`torch.distributed.barrier()` before the first `rendezvous()`; memory from "
                  "`symm_mem.empty()` of the same size on every rank",
       .fix_for_good = "",
       .sources = {{"https://github.com/pytorch/pytorch/issues/188567", Stated::kCauseAndFix}},
       .explains = {"mr-refused", "nccl-class", "mr-invalid-argument"}},
      {.id = "gpu-map-buffer",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title =
           "CUDA cannot map memory of one GPU into another (error 205): a BAR1 that is too small",
       .texts = {{"mapping of buffer object failed"},
                 {"cudaErrorMapBufferObjectFailed"},
                 {"CUDA_ERROR_MAP_FAILED"}},
       .cause =
           "Peer-to-peer by PCIe maps the other GPU's memory through its BAR1 window. Resizable "
           "BAR "
           "is off in the BIOS, or the IOMMU is not in passthrough mode; with a driver that was "
           "patched for peer-to-peer of GeForce cards, that patch does not fit the card.",
       .consequence = "NCCL and other programs stop when they share memory between GPUs; no NIC is "
                      "involved.",
       .checks = {"gpu-bar1", "iommu"},
       .fix_now = "`nvidia-smi -q -d MEMORY | grep -A3 BAR1`; `nvidia-smi topo -p2p r`; once with "
                  "`NCCL_P2P_DISABLE=1`",
       .fix_for_good = "Above 4G Decoding and Resizable BAR on in the BIOS; `iommu=pt` at boot.",
       .sources = {{"https://github.com/tinygrad/open-gpu-kernel-modules/issues/16",
                    Stated::kCauseAndFix},
                   {"https://github.com/tinygrad/open-gpu-kernel-modules/issues/36",
                    Stated::kSymptom}},
       .explains = {"nccl-class", "nccl-allocation"}},
      {.id = "gloo-device",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "Gloo does not find the device or interface that it was told to use",
       .texts = {{"gloo{}Unable to find device named"},
                 {"gloo{}Unable to find interface for"},
                 {"gloo{}Unable to find address for"},
                 {"gloo && ifa != nullptr"}},
       .cause =
           "`GLOO_SOCKET_IFNAME` (or the name of an RDMA device for its ibverbs transport) names "
           "one that this host does not have, or the host's name resolves to an address of no "
           "interface here.",
       .consequence = "The process group is not created.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`ip -br addr`; `getent hosts $(hostname)`; `export GLOO_SOCKET_IFNAME=INTERFACE`; "
           "with one that is up on this host (names may differ among hosts)",
       .fix_for_good = "",
       .sources = {{"https://github.com/pytorch/gloo/blob/main/gloo/transport/tcp/device.cc",
                    Stated::kCause}},
       .explains = {"job-rendezvous"}},
  };
  return table;
}

}  // namespace gdr::explain
