// perftest and the pingpong programs of rdma-core.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& perftest_symptoms() {
  static const Symptoms table = {
      {.id = "perftest-gid",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "perftest or ibv_rc_pingpong cannot connect: the GID index that it uses does not "
                "reach the peer",
       .texts = {{"Unable to Connect the HCA's through the link"},
                 {"Failed to modify QP {number} to RTR"},
                 {"Couldn't connect to remote QP"},
                 {"Failed to modify UC QP to RTR"},
                 {"Failed to modify DC QP to RTR"},
                 {"Failed to modify XRC QP to RTR"},
                 {"Failed to modify SRD QP to RTR"},
                 {"Found Incompatibility issue with GID types"}},
       .unless = {"modify QP{}Network is unreachable", "modify QP{}No such device"},
       .cause =
           "RoCE: ibv_rc_pingpong knows no address unless `-g` names a GID (its line says GID ::), "
           "and perftest's index is an empty, link-local or RoCE v1 entry here or there, or an "
           "address of another subnet than the peer's. Both sides must use the same version of "
           "RoCE; the index may differ. InfiniBand: no LID, since no subnet manager runs, or an "
           "MTU (`-m`) above the peer's.",
       .consequence = "The test stops before it sends anything; no memory is concerned.",
       .checks = {"roce-gid", "port-state", "subnet-manager"},
       .fix_now = "`show_gids`; then `ib_write_bw -d mlx5_0 -x 3 PEER` and `ib_write_bw -d mlx5_0 "
                  "-x 3` on the other side, or `ibv_rc_pingpong -d mlx5_0 -g 3`; with the index of "
                  "the RoCE v2 entry that has the IPv4 address; `ping -I INTERFACE PEER`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man1/ibv_rc_pingpong.1.html", Stated::kFix},
                   {"https://github.com/linux-rdma/perftest/blob/master/src/perftest_resources.c",
                    Stated::kSymptom}},
       .explains = {"wrong-gid", "perftest-peer-gone", "work-flushed"}},
      {.id = "perftest-two-releases",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The two perftests are of different releases, or were given different options",
       .texts = {{"Current implementation is not compatible with versions older than"},
                 {"{word} mismatch: local={word} remote="},
                 {"Failed to negotiate parameters"},
                 {"Failed to exchange negotiation parameters"},
                 {"Failed to exchange Page Size data between"},
                 {"Failed to exchange Cache Line Size data between"},
                 {"Versions of the two machines are not compatible"},
                 {"parameters mismatch between client and server"}},
       .cause =
           "Client and server exchange their options first. One was started with others (size, "
           "queue pairs, transport, `-R`), or is another program (ib_write_bw against "
           "ib_send_bw) or release.",
       .consequence = "The test does not start; no RDMA is concerned.",
       .checks = {},
       .fix_now = "`ib_write_bw --version`; on both; then the same command on both, the client's "
                  "with the server's name behind it",
       .fix_for_good = "perftest of one source on all hosts.",
       .sources = {{"https://github.com/linux-rdma/perftest/blob/master/src/"
                    "perftest_communication.c",
                    Stated::kCause}},
       .explains = {"perftest-peer-gone", "perftest-option"}},
      {.id = "perftest-gpu",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "perftest cannot use the GPU that it was given: number, driver or memory",
       .texts = {{"Couldn't init GPU context"},
                 {"No such device ID ({number}) exists in system"},
                 {"cuDeviceGetByPCIBusId failed with error"},
                 {"Failed to load kernel plugin library"},
                 {"Failed to load required kernel plugin symbols"},
                 {"invalid CUDA memory type"},
                 {"Couldn't allocate work buf"},
                 {"cuInit({number}) returned {above-zero}"},
                 {"There are no available device{}CUDA"}},
       .cause = "`--use_cuda=N` counts the GPUs that this process sees (`CUDA_VISIBLE_DEVICES`, "
                "the container's `--gpus`), the driver's modules are not loaded or do not fit its "
                "libraries, or the GPU's memory is taken by another program.",
       .consequence = "The test stops before RDMA has a part in it.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`nvidia-smi -L`; then `ib_write_bw --use_cuda=0`; or by address: `ib_write_bw "
                  "--use_cuda_bus_id=17:00.0`; containers: `docker run --gpus all`",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/blob/master/src/cuda_memory.c",
                    Stated::kCause}},
       .explains = {"mr-refused"}},
      {.id = "perftest-option",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "perftest was asked for what this test, transport or NIC does not do",
       .texts = {general("isn't supported for Raw Ethernet"),
                 general("not supported in LAT"),
                 general("is not supported for foo transport"),
                 general("is not supported for {qp-kind} transport"),
                 general("not available on {qp-kind} transport"),
                 general("does not support RDMA_CM"),
                 general("not supported in librdmacm"),
                 general("unsupported by HCA on"),
                 general("feature not available on {word} verb"),
                 general("verb is not supported with this"),
                 general("The post send properties are not supported on"),
                 general("Max message size in"),
                 general("The device does not support On-Demand Paging"),
                 general("Data Direct is not supported"),
                 general("Data Direct is not available"),
                 general("Invalid Command line"),
                 general("Invalid Connection type. Please choose"),
                 general("T10DIF signature offload is not supported"),
                 general("Packet Pacing isn't supported"),
                 general("not supported in multicast"),
                 general("RSS isn't supported"),
                 general("message size cannot be changed"),
                 general("doesn't support device memory"),
                 general("GPU touch is not supported"),
                 general("must be smaller than MTU"),
                 general("parameters mismatch && perftest"),
                 general("connection not possible in {word} verb"),
                 general("connection only possible in"),
                 general("is only supported in bandwidth tests"),
                 general("is supported in BW tests only"),
                 general("exists only in BW tests"),
                 general("Bidirectional is only available in BW"),
                 general("feature only available on SEND verb"),
                 general("only available on READ verb"),
                 general("only available on bw tests"),
                 general("can only be used with write_lat and write_bw"),
                 general("can only be used with send_lat and send_bw"),
                 general("is only supported for ODP MR"),
                 general("supported only on RC{end}"),
                 general("supported only on DC{end}"),
                 general("Duration mode {}n't support"),
                 general("must be a multiple of {}list size"),
                 general("do not support -a / --all"),
                 general("test can only run on Ethernet link"),
                 general("Raw Ethernet tests && not supported"),
                 general("not detected in libibverbs"),
                 general("DC not supported, mlx5dv.h is needed"),
                 general("Requested mtu is higher than active mtu"),
                 general("Please choose mtu from"),
                 general("Message Size should be between"),
                 general("--data_validation && requires"),
                 general("--data_validation is"),
                 general("aes_xts && support"),
                 general("run_infinitely && support"),
                 general("ODP {}not supported for {word} transport")},
       .cause =
           "The options do not go together, the NIC has no such transport or operation (UD has "
           "messages of one MTU, EFA no RC and no atomics), or this perftest was built without "
           "it. No memory or link is at fault.",
       .consequence = "The test does not run.",
       .checks = {},
       .fix_now =
           "`ib_write_bw --help`; the test again without the option that the line names; EFA: "
           "`ib_write_bw -c SRD` or `ib_send_bw -c SRD`; `gdr perf`; chooses by itself",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/blob/master/src/"
                    "perftest_parameters.c",
                    Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
