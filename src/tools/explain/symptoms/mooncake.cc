// Mooncake's transfer engine, and the file system 3FS, brpc and UCCL, which choose among NICs.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& mooncake_symptoms() {
  static const Symptoms table = {
      {.id = "mooncake-slice",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "Mooncake: pieces of a transfer fail between one pair of NICs",
       .texts = {general("Process failed for slice"),
                 {"Too many errors found in local RNIC"},
                 {"rdma_context{}Context is not active"},
                 {"All rails failed for context"},
                 {"Rail paused: peer="},
                 {"Cannot redispatch slice"},
                 {"Cannot make connection for endpoint"},
                 {"rdma_transport{}Device {number} is not active"},
                 {"Timed out waiting for RDMA ready ACK"}},
       .cause =
           "The line names the local and the peer's NIC, and at its end the reason. Transport "
           "retry "
           "counter exceeded: these two do not reach each other. Mooncake pairs any local NIC with "
           "any of the peer's, so on networks of rails some pairs fail; else the GID or the MTU is "
           "wrong. Local protection or remote access error: that memory is not registered any "
           "more, "
           "or ACS stands between GPU and NIC. Flushed: it follows from an earlier line.",
       .consequence = "The transfer is tried on other NICs, then fails.",
       .checks = {"roce-gid", "port-state", "mtu", "acs"},
       .fix_now =
           "The end of the first such line; `ib_write_bw -d DEVICE -x INDEX`; between the two NICs "
           "that it names. They do not reach each other: `device_name` with NICs of one network, "
           "or `MC_ENABLE_DEST_DEVICE_AFFINITY=1`; else `MC_GID_INDEX=N` (`show_gids`), "
           "`MC_MTU=1024`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/issues/166", Stated::kCause},
                   {"https://github.com/kvcache-ai/Mooncake/issues/507", Stated::kSymptom}},
       .explains = {"nic-error-completion", "kv-transfer"}},
      {.id = "mooncake-path",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "Mooncake finds no NIC of the peer for this address: it is in no registered buffer",
       .texts = {{"Failed to select remote NIC"},
                 {"Failed to select {word} NIC"},
                 {"No device could access the slice memory region"},
                 {"No rkey for MR access"},
                 {"rkey not found for"},
                 {"lkey not found for"},
                 {"Address {word} rkey not found"},
                 {"Address {word} lkey not found"},
                 {"Peer device index out of range"},
                 {"Cannot select device for"},
                 {"No matched buffer in given address range"},
                 {"Peer NIC {word} not found in"}},
       .cause =
           "The other side's description (its segment in the metadata) has no buffer at this "
           "address, or no NIC for it: the address was computed for another buffer, the segment is "
           "that of a process which has restarted meanwhile, or its memory could not be registered "
           "there, which its own log says. Or the two sides were given different numbers of NICs "
           "that do not all reach each other.",
       .consequence = "The transfer is not started.",
       .checks = {"rdma-nics"},
       .fix_now =
           "The log of the other side: its first line about registering; then restart both sides "
           "(the segment is read again), with the same release and the same `device_name`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/blob/main/mooncake-transfer-engine/src/"
                    "transport/rdma_transport/worker_pool.cpp",
                    Stated::kCause},
                   {"https://github.com/kvcache-ai/Mooncake/issues/166", Stated::kSymptom}},
       .explains = {"kv-transfer"}},
      {.id = "mooncake-no-transport",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "Mooncake's transfer engine does not start: no NIC was left for its RDMA transport",
       .texts = {{"Failed to install RDMA transport"},
                 {"Failed to install EFA transport"},
                 {"Failed to install transport, type"},
                 {"Failed to initialize transfer engine"},
                 {"No HCA detected and neither"},
                 {"MC_FORCE_TCP is set but"},
                 {"EfaTransport: No available EFA devices"},
                 {"EfaTransport: cannot initialize EFA resources"},
                 {"IbvLoader: missing required verbs symbols"}},
       .cause =
           "Every NIC was left out before this line: no device in the container, a port that is "
           "down, or a GID index without an address (the lines `Disable device` and `No suitable "
           "GID` say which). 'missing required verbs symbols': the libibverbs here is too old or "
           "absent.",
       .consequence = "The engine (vLLM, SGLang) stops, or goes over TCP where that was asked for.",
       .checks = {"rdma-nics", "devices", "roce-gid", "port-state"},
       .fix_now =
           "`ibv_devinfo | grep -E 'hca_id|state|link_layer'`; `ls /dev/infiniband`; `show_gids`; "
           "then `MC_GID_INDEX=N`; without RDMA: `protocol=tcp` with `MC_MS_AUTO_DISC=0`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/issues/898", Stated::kFix},
                   {"https://github.com/kvcache-ai/Mooncake/issues/1593", Stated::kCause}},
       .explains = {"kv-transfer"}},
      {.id = "mooncake-gid-choice",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "Mooncake guesses the GID of a NIC: none of them is clearly the right one",
       .texts = {{"has no associated network device"},
                 {"No network-attached GID found on"},
                 {"No non-overlay network GID found on"},
                 {"No RoCEv2/IB candidate found on"}},
       .cause =
           "The NIC's interface is not in this container (its GIDs then have no network device "
           "here), or has only link-local, RoCE v1 or overlay addresses. The index that it takes "
           "may work, or lead to a connection that times out.",
       .consequence = "None, or connections to the peers fail.",
       .checks = {"roce-gid"},
       .fix_now = "`show_gids`; `MC_GID_INDEX=N` with a RoCE v2 GID whose address the peers reach; "
                  "containers: `--network host`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/blob/main/mooncake-transfer-engine/src/"
                    "transport/rdma_transport/rdma_context.cpp",
                    Stated::kCause},
                   {"https://github.com/kvcache-ai/Mooncake/issues/1384", Stated::kSymptom}},
       .explains = {}},
      {.id = "mooncake-device-path",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "Mooncake looks for the NIC's device file under the wrong name and leaves it out",
       .texts = {{"Device path /dev/infiniband/mlx{word} does not exist"},
                 {"Device path /dev/infiniband/roce{word} does not exist"},
                 {"Device path /dev/infiniband/ib{word} does not exist"},
                 {"Device path /dev/infiniband/bnxt{word} does not exist"},
                 {"Device path /dev/infiniband/erdma{word} does not exist"}},
       .cause =
           "The device files are called uverbs0, uverbs1 and so on; this release (0.3.8.post1) "
           "looks "
           "for one of the NIC's own name, a defect that a later release does not have. The host "
           "and the container are in order.",
       .consequence = "No NIC is left, and the transfer engine stops or goes over TCP.",
       .checks = {"devices"},
       .fix_now = "`pip install -U mooncake-transfer-engine`; or the release before it",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/issues/1391", Stated::kCause}},
       .explains = {"nic-not-usable", "mooncake-no-transport"}},
      {.id = "mooncake-setting",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "Mooncake leaves a setting (MC_...) out: its value is not one that it takes",
       .texts = {{"Ignore value from environment variable MC_"},
                 {"Ignore MC_{word}"},
                 {"Invalid MC_{word} "},
                 {"Failed to parse MC_"},
                 {"MC_ENABLE_HCA_PEER_AFFINITY and MC_ENABLE_DEST_DEVICE_AFFINITY cannot"},
                 {"MC_NIC_PEER_AFFINITY has no valid mappings"},
                 {"Configured GID index {number} out of range"}},
       .cause =
           "The line names the variable, and mostly the values that it may have. The default is "
           "used in its place.",
       .consequence = "The transfer engine runs without that setting.",
       .checks = {},
       .fix_now = "`env | grep ^MC_`; correct or unset the one that the line names",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/blob/main/mooncake-transfer-engine/src/"
                    "config.cpp",
                    Stated::kCause}},
       .explains = {}},
      {.id = "engine-device-name",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "The NIC that the engine was told to use is not on this host",
       .texts = {{"Invalid IB devices specified"},
                 {"InfiniBand sysfs path not found"},
                 {"UCCL_P2P_RDMA_DEV token"},
                 {"Device {word} not found in the local segment"},
                 {"No matched device found in this server"},
                 {"RDMA device {word} not found in"}},
       .cause = "The option (SGLang: `--disaggregation-ib-device`, Mooncake: `device_name`, vLLM's "
                "connector configuration) names a device that is not below `/sys/class/infiniband` "
                "here: "
                "hosts name their NICs differently (mlx5_0, rocep23s0, mlx5_bond_0), or the "
                "container has "
                "none.",
       .consequence = "The engine does not start.",
       .checks = {"rdma-nics", "devices"},
       .fix_now =
           "`ls /sys/class/infiniband`; `ibdev2netdev`; on this host and in the container; then "
           "the option with these names, or without the option, so that it looks itself",
       .fix_for_good = "",
       .sources =
           {{"https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/server_args.py",
             Stated::kCause}},
       .explains = {"no-rdma-device", "mooncake-no-transport"}},
      {.id = "3fs-devices",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "3FS cannot open the RDMA devices: too many of them, or none that is active",
       .texts = {{"Failed to open all IBDevices"},
                 {"too many ibdevices"},
                 {"IBManager can't find available device"},
                 {"IBDevice not initialized"},
                 {"Failed to load verbs device list"},
                 {"IBDevice failed to open"},
                 {"Failed to open IBDevice"}},
       .cause =
           "InvalidArg: the host has more RDMA devices than 3FS was built for (kMaxDeviceCnt, 4), "
           "and no filter is set. Else every port is down, or has no RoCE v2 GID.",
       .consequence = "The service or client of 3FS does not start.",
       .checks = {"rdma-nics", "port-state", "roce-gid"},
       .fix_now =
           "`ibdev2netdev`; then in the configuration `[common.ib_devices]`, `device_filter = "
           "[\"mlx5_0\"]` with those whose ports are up",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/3FS/issues/173", Stated::kCauseAndFix},
                   {"https://github.com/deepseek-ai/3FS/blob/main/src/common/net/ib/IBDevice.cc",
                    Stated::kCause}},
       .explains = {}},
      {.id = "3fs-connect",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "3FS: an RDMA connection between two NICs is not completed",
       .texts = {{"IBSocket{}accept timeout"},
                 {"IBSocket{}still in ACCEPTED state"},
                 {"IBSocket{}closed before"},
                 {"IBSocket{}failed to connect"},
                 {"IBSocket{}peer doesn't have active port"},
                 {"IBSocket{}can't find match device"},
                 {"IBSocket{}failed to send first msg"},
                 {"IBSocket{}get failed WC"},
                 {"IBSocket{}drain timeout"},
                 {"IBSocket {}linklayer {word} != remote linklayer"},
                 {"IBConnectService{}{fails}"},
                 {"MgmtdClient::RoutingInfoNotReady"}},
       .cause =
           "Client and server agree by TCP on one NIC each, and the packets between these two do "
           "not arrive: NICs of different networks were paired (3FS goes by zones, which it cannot "
           "tell in a container without the interfaces' addresses), one of them is InfiniBand and "
           "the other RoCE, or a port is down. RoutingInfoNotReady is what a client says then.",
       .consequence = "The client does not reach that service.",
       .checks = {"roce-gid", "port-state"},
       .fix_now =
           "The log of the other side; `ib_write_bw -d DEVICE -x INDEX`; between the two NICs that "
           "the lines name; then `device_filter` with the NICs of one network on all hosts, "
           "containers with `--network host`",
       .fix_for_good = "`default_network_zone` and subnets of the zones in `[common.ib_devices]`.",
       .sources = {{"https://github.com/deepseek-ai/3FS/blob/main/src/common/net/ib/IBSocket.cc",
                    Stated::kCause},
                   {"https://github.com/deepseek-ai/3FS/issues/175", Stated::kSymptom}},
       .explains = {"peer-never-answers", "work-flushed"}},
      {.id = "brpc-rdma-off",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "brpc goes over TCP in place of RDMA",
       .texts = {{"Fail to bringup QP, fallback to tcp"},
                 {"Fail to negotiate with server, fallback to tcp"},
                 {"Client wants RDMA in ACK but server fell back"},
                 {"RDMA is disabled due to some unrecoverable problem"},
                 {"Cannot use {word} over RDMA"},
                 {"NSHEAD is not supported by RDMA"},
                 {"SSL is not supported by RDMA"},
                 {"RTMP is not supported by RDMA"},
                 {"MONGO is not supported by RDMA"}},
       .cause =
           "bringup: the queue pair could not be connected (GID index, network). negotiate, fell "
           "back: the other side was built or started without RDMA, or could not create its queue "
           "pair. 'not supported by RDMA': SSL and some protocols of brpc have no RDMA. "
           "'unrecoverable': registering memory or an event of the NIC failed before.",
       .consequence = "The connection works over TCP, more slowly.",
       .checks = {"roce-gid", "locked-memory"},
       .fix_now =
           "`show_gids`; then `--rdma_gid_index=N` and `--rdma_device=mlx5_0` on both sides; "
           "`use_rdma = true` in the options of server and channel",
       .fix_for_good = "",
       .sources = {{"https://github.com/apache/brpc/blob/master/docs/en/rdma.md", Stated::kCause},
                   {"https://github.com/apache/brpc/issues/3416", Stated::kSymptom}},
       .explains = {"rpc-over-rdma"}},
      {.id = "uccl-gpu-without-nic",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "UCCL has no NIC for one of the GPUs: fewer NICs than GPUs, or one is down",
       .texts = {{"gpu_to_dev_idx_[{number}] is not set"},
                 {"Check failed: {}gpu_to_dev"},
                 {"Check failed: rdma_ctx_map_.find"},
                 {"Check failed: {}NUM_DEVICES mismatch"},
                 {"Check failed: {}GPU index {number} out of range"},
                 {"UCCL_P2P_RDMA_DEV={word} not usable"},
                 {"[WARN] no candidate NIC found"}},
       .cause =
           "UCCL gives each GPU the NIC next to it and stops where there is none: the host has "
           "fewer "
           "NICs than GPUs or one is left out (port down, not in `UCCL_IB_HCA`), or the two hosts "
           "have different numbers of them.",
       .consequence = "The program aborts at a check (CHECK) of UCCL.",
       .checks = {"rdma-nics", "port-state"},
       .fix_now =
           "`gdr topo`; `ibdev2netdev`; then `UCCL_IB_HCA=mlx5_0:1,...` with the NICs that are up, "
           "and only GPUs that have one: `CUDA_VISIBLE_DEVICES` or `HIP_VISIBLE_DEVICES`, the same "
           "on every host",
       .fix_for_good = "The cause of the port that is down; or a UCCL that shares NICs among GPUs.",
       .sources = {{"https://github.com/uccl-project/uccl/issues/120", Stated::kCauseAndFix},
                   {"https://github.com/uccl-project/uccl/issues/276", Stated::kSymptom}},
       .explains = {"verbs-call"}},
      {.id = "uccl-sockets",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "UCCL's processes do not reach each other by TCP before any RDMA",
       .texts = {{"Check failed: uccl_connect"},
                 {"Check failed: uccl_accept"},
                 {"Check failed: Failed to bind after trying many ports"},
                 {"Check failed: Failed to {word} GID"},
                 {"Check failed: Failed to {word} PortAttr"},
                 {"Check failed: No IP interface found"},
                 {"Timeout waiting for control channel handshake"},
                 {"ERROR: binding socket, ret"}},
       .cause =
           "UCCL exchanges addresses by TCP. The interface that it chose is not reached by the "
           "other "
           "host (a container's bridge), its ports are closed or taken by an earlier run, or the "
           "other process has ended, which its own log explains.",
       .consequence = "The program aborts at a check (CHECK) of UCCL.",
       .checks = {},
       .fix_now = "`ip -br addr`; `export NCCL_SOCKET_IFNAME=INTERFACE "
                  "UCCL_SOCKET_IFNAME=INTERFACE`; with "
                  "the one that all hosts share; containers: `docker run --network host`; `ss "
                  "-tlnp`; then "
                  "end what is left of earlier runs",
       .fix_for_good = "",
       .sources = {{"https://github.com/uccl-project/uccl/blob/main/collective/rdma/transport.cc",
                    Stated::kCause},
                   {"https://github.com/uccl-project/uccl/issues/172", Stated::kSymptom}},
       .explains = {"wrong-gid", "verbs-call"}},
      {.id = "mooncake-nvlink",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "Mooncake goes by NVLink between hosts, and a buffer is not of memory that can be "
                "shared so",
       .texts = {{"is not allocated by cuMemCreate, but it can be used as local"},
                 {"got invalid buffer data from"},
                 {"Using cross-node NVLink transport", 1},
                 {"not found!", 2},
                 {"hangs permanently", 2},
                 {"nvlink_transport.cpp && Requested address"}},
       .cause = "The pod was given no RDMA NIC (Found 0 HCAs), so that the engine takes NVLink "
                "(MNNVL). That way needs memory of cuMemCreate with a fabric handle; memory of "
                "cudaMalloc or of the host, as Mooncake's expert-parallel parts up to 0.3.9 take "
                "it, cannot be reached by the other host.",
       .consequence = "Both sides wait for ever at the handshake.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "Give the pod its NICs (EFA: `vpc.amazonaws.com/efa`, else `/dev/infiniband`), "
                  "so that RDMA is used; or a newer Mooncake (pull request 1629 and later) and a "
                  "ComputeDomain for the job; `env | grep MC_FORCE_MNNVL`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/issues/1627", Stated::kCause},
                   {"https://github.com/kvcache-ai/Mooncake/issues/1639", Stated::kCause}},
       .explains = {"mooncake-path", "no-rdma-device", "nic-not-usable"}},
  };
  return table;
}

}  // namespace gdr::explain
