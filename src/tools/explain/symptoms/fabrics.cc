// Slingshot, Omni-Path and EFA, and the programs above them: MPI, RPC and PGAS libraries.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& fabric_symptoms() {
  static const Symptoms table = {
      {.id = "cxi-service",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "Slingshot (cxi): the job has no service or VNI of the NIC that it may use",
       .texts = {{"cxil_alloc_svc && {fails}"},
                 {"SLINGSHOT_VNIS && not set"},
                 {"SLINGSHOT_VNIS was not"},
                 {"SLINGSHOT_SVC_IDS && {fails}"},
                 {"Failed to find service ID"},
                 {"cxi_service && {fails}"},
                 {"default cxi service"},
                 {"CXI service && {fails}"},
                 {"CXI services && {fails}"},
                 {"CXI service allocation"},
                 {"VNI setup failed"},
                 {"Failed to find matching service"},
                 {"No CXI service"},
                 {"Invalid VNI"},
                 general("cxi && VNI && {fails}")},
       .cause =
           "Each process talks through a service of the NIC, which names its users, its VNIs (as "
           "VLANs) and its share of the NIC. Slurm, PALS or flux make one for a job and hand it "
           "over in `SLINGSHOT_VNIS` and `SLINGSHOT_SVC_IDS`; a process that was started by hand "
           "(ssh, a container, a login node) has only the default service, which sites switch "
           "off. Making one fails with Invalid argument where more is reserved than the NIC has "
           "left.",
       .consequence = "libfabric's cxi provider opens no endpoint.",
       .checks = {},
       .fix_now = "`env | grep SLINGSHOT`; start it by `srun --network=single_node_vni,job_vni "
                  "PROGRAM`; `cxi_service list -v`; as root, for all users of the host: "
                  "`cxi_service enable -s 1`",
       .fix_for_good = "Containers: hand `SLINGSHOT_VNIS`, `SLINGSHOT_SVC_IDS` and `/dev/cxi0` in.",
       .sources = {{"https://github.com/mochi-hpc/mochi-margo/issues/305", Stated::kCauseAndFix},
                   {"https://github.com/flux-framework/flux-coral2/issues/407", Stated::kCause},
                   {"https://ofiwg.github.io/libfabric/main/man/fi_cxi.7.html", Stated::kCause}},
       .explains = {"cxi-endpoint", "ofi-no-provider", "ofi-call", "verbs-call"}},
      {.id = "psm-no-unit",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "PSM or OPX finds no active NIC unit, or takes one that is not active or not meant "
                "for it",
       .texts = {{"Unit Id {word} name {word} not found, number of devices is"},
                 {"Port state is not running for {word} port"},
                 {"[HFI1-DIRECT] No matching device"},
                 {"no hfi units are active"},
                 {"no nic units are active"},
                 {"no PSM2 device is active"},
                 {"no PSM3 device is active"},
                 {"hfi1 units: total {number}, active 0"},
                 {"hfi1 units: total -1, active 0"},
                 {"nic units: total {number}, active 0"},
                 {"PSM3 can't open nic unit"},
                 {"Unable to initialize verbs NIC"},
                 {"No HFI units found"},
                 {"selected unit {number} is not active"},
                 {"Unable to select an HFI port on unit"},
                 {"Unable to open application-specified HFI"},
                 {"inactive HFI"},
                 {"cannot find sysfs entry for hfi1"},
                 general("psm2 && inactive")},
       .cause =
           "Likeliest first: libfabric chose psm3 on a host whose NIC is none for it (an Ethernet "
           "or cloud NIC such as mana or ena: psm3 takes any verbs device and ranks high); the "
           "Omni-Path port is not Active (no fabric manager), or the first of two units is not; "
           "the sysfs entry has another name (rdma-core renames hfi1_0 to opap...), which libpsm2 "
           "before 11.2.173 does not follow; `/dev/hfi1_0` is not in the container.",
       .consequence = "MPI stops, or goes over TCP.",
       .checks = {"rdma-nics", "port-state", "devices"},
       .fix_now =
           "`opainfo`; `ls /sys/class/infiniband /dev/hfi1_0`; no Omni-Path here: `export "
           "FI_PROVIDER=tcp`, or `FI_PROVIDER=^psm3`; Intel MPI: `export I_MPI_OFI_PROVIDER=tcp`; "
           "two units: `export HFI_UNIT=0`; renamed devices: `net.ifnames` rule of "
           "`60-rdma-persistent-naming.rules` off",
       .fix_for_good = "",
       .sources = {{"https://github.com/cornelisnetworks/opa-psm2/issues/43", Stated::kCause},
                   {"https://github.com/cornelisnetworks/opa-psm2/issues/53", Stated::kCauseAndFix},
                   {"https://github.com/ofiwg/libfabric/issues/10873", Stated::kSymptom}},
       .explains = {"no-active-port", "openfabrics-device", "psm-endpoint", "ofi-no-provider",
                    "efa-endpoint", "ofi-call", "mpi-network", "no-rdma-device", "verbs-call"}},
      {.id = "psm-shared-memory",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "PSM's processes of one host do not find each other's shared memory",
       .texts = {{"PSM could not set up shared memory segment"},
                 {"Error opening remote shared memory object in shm_open"},
                 {"opening remote shared memory object in shm_open"},
                 {"psm2_shm.{}{fails}"},
                 {"psm3_shm.{}{fails}"}},
       .cause = "Each process keeps a file in /dev/shm, which the others of the host open by its "
                "name. They are in containers that do not share /dev/shm, /dev/shm is full or was "
                "cleaned meanwhile (systemd's RemoveIPC, a job's epilog), or the processes use "
                "different NICs or releases of PSM so that the names differ.",
       .consequence = "MPI_Init fails; the network is not concerned.",
       .checks = {},
       .fix_now = "`df -h /dev/shm`; `ls -l /dev/shm`; `grep RemoveIPC /etc/systemd/logind.conf`; "
                  "must be no; one container for all ranks of a host, or `--ipc=host`; without "
                  "shared memory: `export PSM2_DEVICES=self,hfi`",
       .fix_for_good = "",
       .sources = {{"https://github.com/cornelisnetworks/opa-psm2/issues/48", Stated::kSymptom}},
       .explains = {"psm-endpoint", "ofi-call", "mpi-network"}},
      {.id = "psm-devices",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "PSM2_DEVICES leaves out a device that this job needs",
       .texts = {general("PSM2_DEVICES && {fails}"), general("PSM2_DEVICES && environment"),
                 general("PSM2_DEVICES && self,shm"), general("PSM3_DEVICES && {fails}")},
       .cause = "PSM uses only what the variable lists. Older releases of Open MPI set it to "
                "`self,shm` for a job on one host by themselves, with which some Omni-Path hosts "
                "do not start a single process.",
       .consequence = "MPI_Init fails on one host, and works on several.",
       .checks = {},
       .fix_now = "`export PSM2_DEVICES=self,shm,hfi`; Open MPI 2.0.0 or later",
       .fix_for_good = "",
       .sources = {{"https://github.com/open-mpi/ompi/pull/1578", Stated::kCauseAndFix}},
       .explains = {"psm-endpoint", "mpi-network"}},
      {.id = "efa-address-handle",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "EFA has no way to this address: another availability zone, or a stale address",
       .texts = {{"efa_ah_alloc{}ibv_create_ah"},
                 {"ibv_create_ah failed with EINVAL. Local GID"},
                 {"Remote GID is in a different availability zone"},
                 {"cross-AZ communication is not enabled"},
                 {"endpoint cannot create ah for its own address"},
                 {"efa{}Failed to construct ah"},
                 {"efa && ibv_create_ah && {fails}"}},
       .cause = "EFA's traffic does not leave its subnet, and so not its availability zone. Or the "
                "peer's address came from an instance that is gone (a file, a checkpoint), or from "
                "another interface.",
       .consequence = "These two instances do not talk by EFA.",
       .checks = {"rdma-nics"},
       .fix_now = "All instances in one subnet and placement group: `aws ec2 describe-instances "
                  "--query Reservations[].Instances[].Placement`; the addresses exchanged anew at "
                  "each start; the security group must allow all traffic to itself",
       .fix_for_good = "",
       .sources = {{"https://github.com/ofiwg/libfabric/pull/12149", Stated::kCause},
                   {"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
                    Stated::kCause}},
       .explains = {"qp-values", "ofi-gid", "ofi-call", "efa-endpoint", "wrong-gid",
                    "qp-not-connected", "verbs-call"}},
      {.id = "perftest-without-wr",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "This perftest was built without the newer calls (ibv_wr_*) that the NIC needs",
       .texts = {{"HAVE_IBV_WR_API"},
                 {"ibv_wr* API : OFF && efa"},
                 {"Unable to create QP", 1},
                 {"Failed to create QP", 1},
                 {"Elastic Fabric Adapter", 2},
                 {"Device{} : efa_0", 2}},
       .cause = "EFA's queue pairs (SRD) are made and used by `ibv_create_qp_ex` and `ibv_wr_*`. "
                "perftest has them only if `configure` found an rdma-core with them (22 or later); "
                "else it does not even ask for the queue pair, and says only that it has none. SRD "
                "and UD are all that EFA has.",
       .consequence = "perftest stops.",
       .checks = {},
       .fix_now =
           "The perftest of a current rdma-core, built anew: `./autogen.sh && ./configure && "
           "make`; then `ib_send_lat -c SRD` or `-c UD` on both sides",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/issues/105", Stated::kCause}},
       .explains = {"qp-not-created", "queue-invalid", "efa-no-rc", "perftest-option"}},
      {.id = "perftest-other-maker",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "perftest asks a NIC of another maker for features of mlx5",
       .texts = {general("mlx5dv_query_device && {fails}"),
                 general("mlx5dv_query_device && devices"), general("call mlx5dv_query_device"),
                 general("non-Mellanox && mlx5dv"), general("third-party && mlx5dv_query_device"),
                 general("not mlx5 && mlx5dv_query_device"), general("MLX5DV_QP_CREATE_OOO_DP")},
       .cause = "perftest 25 built with rdma-core 55 or later asks every device whether it can "
                "receive out of order, by a call that only mlx5 has; on others it fails, and the "
                "test ends. The NIC is in order.",
       .consequence = "No test runs on this NIC with this perftest.",
       .checks = {},
       .fix_now = "A perftest with the fix (commit 920087f), or one before 25; or built without "
                  "mlx5: `./configure ac_cv_header_infiniband_mlx5dv_h=no && make`",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/issues/332", Stated::kCauseAndFix}},
       .explains = {"qp-not-created", "nic-query", "verbs-call"}},
      {.id = "erpc-route",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title =
           "eRPC cannot make an address handle: built for InfiniBand and run on RoCE, or a GID "
           "that does not reach the peer",
       .texts = {{"Routing resolution failure"},
                 {"Unable to resolve routing info"},
                 {"Failed to create self AH"},
                 {"Failed to create address handle for"},
                 {"HRD: Failed to modify QP"}},
       .cause = "eRPC (and HERD's libhrd) address by LID, unless they are built with `-DROCE=on`, "
                "and then take GID index 0, which on RoCE is the link-local or v1 entry. Newer "
                "rdma-core refuses such an address at once.",
       .consequence = "Sessions are not connected.",
       .checks = {"roce-gid"},
       .fix_now = "`cmake . -DTRANSPORT=infiniband -DROCE=on`; `show_gids`; then the index of the "
                  "RoCE v2 entry for `sgid_index` in `ib_transport.cc`; `ib_read_bw -x 3` between "
                  "the same hosts",
       .fix_for_good = "",
       .sources = {{"https://github.com/erpc-io/eRPC/issues/10", Stated::kCauseAndFix},
                   {"https://github.com/erpc-io/eRPC/issues/48", Stated::kSymptom}},
       .explains = {"qp-values", "qp-not-connected", "verbs-call"}},
      {.id = "gasnet-conduit",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "GASNet was built without the conduit of this network (ibv, ofi, ucx)",
       .texts = {{"Using GASNet's mpi-conduit, which exists for portability"},
                 {"Using GASNet's udp-conduit, which exists for portability"},
                 {"which is supported by a GASNet native conduit"},
                 {"should *really* use the high-performance native GASNet conduit"}},
       .cause = "`configure` did not find the headers of the network (libibverbs-dev, libfabric or "
                "UCX), so that the portable conduit over MPI or UDP was taken.",
       .consequence = "Slow, and without GPU memory over RDMA (memory kinds).",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo apt-get install libibverbs-dev`; then GASNet anew: `./configure "
                  "--enable-ibv`; Slingshot and Omni-Path: `--enable-ofi`; Legion and Realm: "
                  "`CONDUIT=ibv`",
       .fix_for_good = "",
       .sources = {{"https://gasnet.lbl.gov/dist/README", Stated::kCauseAndFix},
                   {"https://github.com/nv-legate/legate/issues/948", Stated::kSymptom}},
       .explains = {"built-without-rdma", "openfabrics-device", "no-active-port"}},
      {.id = "openib-cpc",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title =
           "Open MPI's openib leaves one way of connecting out: harmless where another is left",
       .texts = {{"rdmacm CPC only supported when the first QP is a PP QP"},
                 {"CPC unavailable for use on {word}; skipped"}},
       .cause = "openib connects by `udcm` or by `rdmacm`; the latter wants a queue that is not "
                "shared as its first (`P,...` in `btl_openib_receive_queues`). On InfiniBand udcm "
                "is enough; on RoCE rdmacm is the only one.",
       .consequence = "None on InfiniBand. On RoCE openib does not start.",
       .checks = {"mpi-ucx"},
       .fix_now = "`mpirun --mca pml ucx --mca btl ^openib PROGRAM`; to stay with openib on RoCE: "
                  "`mpirun --mca btl_openib_cpc_include rdmacm --mca btl_openib_receive_queues "
                  "P,65536,256,192,128 PROGRAM`",
       .fix_for_good = "An Open MPI that was built with UCX.",
       .sources = {{"https://www.open-mpi.org/faq/?category=openfabrics", Stated::kCauseAndFix},
                   {"https://github.com/open-mpi/ompi/issues/10734", Stated::kSymptom}},
       .explains = {"openfabrics-device", "mpi-network"}},
      {.id = "mpi-ofi-probe",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title =
           "Open MPI also tries the NIC through libfabric, and that attempt fails: no right is "
           "missing",
       .texts = {{"Failed to modify UD QP to INIT on {word}: Operation not permitted"},
                 {"Failed to modify UD QP to INIT && {EPERM}"}},
       .cause = "Besides UCX, Open MPI's ofi components ask libfabric for its providers, and its "
                "verbs and psm3 providers try the NIC with a queue pair of their own. Since OFED "
                "23.10 the driver refuses it to ordinary users.",
       .consequence = "A message only, where the job then goes by UCX.",
       .checks = {"mpi-ucx"},
       .fix_now = "`export OMPI_MCA_pml=ucx OMPI_MCA_btl=^ofi,openib OMPI_MCA_mtl=^ofi`; or "
                  "`export FI_PROVIDER=^psm3`",
       .fix_for_good = "The same in `etc/openmpi-mca-params.conf` of that Open MPI, or one built "
                       "without libfabric.",
       .sources = {{"https://github.com/easybuilders/easybuild-easyconfigs/issues/20233",
                    Stated::kCauseAndFix}},
       .explains = {"queue-permission", "qp-init-refused", "ucx-call", "verbs-call"}},
      {.id = "nic-names-differ",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "The NIC has another name on some hosts of the job, and one name was set for all",
       .texts = {{"inconsistent IB device naming"},
                 {"UCX_NET_DEVICES", 1},
                 {"NCCL_IB_HCA", 1},
                 {"btl_openib_if_include", 1},
                 {"inconsistent && device nam", 2},
                 {"differing && device nam", 2},
                 {"different && device name", 2},
                 {"device names are not the same", 2}},
       .cause = "Names come from the order in which drivers find the NICs, or from a rule that "
                "renames them (azure: mlx5_ib0; rdma-core: ibp65s0, rocep1s0) and did not run on "
                "every host. A setting with one host's name fails on the others.",
       .consequence = "These hosts find no device, and the job stops or goes over TCP.",
       .checks = {"rdma-nics"},
       .fix_now = "`rdma link`; on every host; leave the variable unset, or a prefix that fits all "
                  "(`NCCL_IB_HCA=mlx5`), or a wrapper that sets it on each host: `export "
                  "UCX_NET_DEVICES=$(ls /sys/class/infiniband | head -1):1`",
       .fix_for_good = "One rule for all: `60-rdma-persistent-naming.rules` of rdma-core, and a "
                       "reboot.",
       .sources = {{"https://github.com/Azure/azhpc-images/issues/491", Stated::kCauseAndFix}},
       .explains = {"ucx-net-device", "verbs-call", "ucx-call"}},
  };
  return table;
}

}  // namespace gdr::explain
