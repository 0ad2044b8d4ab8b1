// libfabric (OFI) and PSM, and the MPIs above them: no provider, none that works, no endpoint.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& ofi_symptoms() {
  static const Symptoms table = {
      {.id = "ofi-no-provider",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "libfabric has no provider for what the program asks for (No data available, -61)",
       .texts = {{"OFI addrinfo() failed"},
                 {"can not find network providers"},
                 {"can not open network providers"},
                 {"atl_ofi{}find suitable provider"},
                 {"no active providers for ep_idx"},
                 {"fi_getinfo: -61"},
                 {"fi_getinfo(): -61"},
                 {"fi_getinfo: No data available"},
                 {"fi_getinfo {}failed{}No data available"},
                 {"fi_getinfo{}status{}No data available"},
                 {"fi_getinfo(){}No data available"},
                 {"fi_getinfo failed{}No data available"},
                 {"fi_getinfo error{}No data available"},
                 general("OFI fi_getinfo() call failed"),
                 {"OFI fi_getinfo() fail"},
                 {"OFI fi_getinfo failed"},
                 {"fi_getinfo No such device"},
                 {"is unknown, misspelled or DL provider"},
                 {"OFI fi_fabric failed"},
                 {"No provider found for {word} provider on domain"},
                 {"Please re-compile libfabric with support for"},
                 {"fi_endpoint{}-61(No data available)"},
                 last("Could not create HG core class"),
                 last("na_ofi_{word}(){}{fails}"),
                 last("verbs provider uses wrong domain"),
                 {"No fabric interfaces found"}},
       .cause =
           "No provider is left after the filters: `FI_PROVIDER` names one that this libfabric was "
           "built without (`fi_info -l` lists them), the NIC's port is down or its device is not "
           "in this container, the interface has no IP address (verbs takes only NICs with one), "
           "or the program wants what the provider lacks (GPU memory: FI_HMEM, another release of "
           "the API).",
       .consequence = "The program stops, or goes over TCP or another transport.",
       .checks = {"rdma-nics", "devices", "port-state"},
       .fix_now = "`fi_info -l`; `fi_info -p verbs`; `env | grep FI_`; `ip -br addr`; then "
                  "`FI_LOG_LEVEL=warn` in the environment of a run names the provider's reason; to "
                  "go on over TCP: `export FI_PROVIDER=tcp`",
       .fix_for_good = "A libfabric built with the NIC's provider (`--enable-verbs`), the same one "
                       "for program and `fi_info`.",
       .sources = {{"https://ofiwg.github.io/libfabric/main/man/fi_getinfo.3.html", Stated::kCause},
                   {"https://github.com/ofiwg/libfabric/issues/5149", Stated::kSymptom},
                   {"https://github.com/pmodels/mpich/issues/6547", Stated::kSymptom}},
       .explains = {"qp-not-created", "ofi-call", "mpi-network", "verbs-call"}},
      {.id = "efa-gpu-address",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title =
           "EFA cannot register GPU memory: neither its peer-memory module nor dma-buf is used",
       .texts = {{"libfabric:{}efa:mr:{}Bad address"},
                 {"efa_mr_reg{}Bad address"},
                 {"efa_mr_{word}{}{EFAULT}"}},
       .cause = "The address is one of a GPU, and EFA's driver does not know it. `efa_nv_peermem` "
                "is not "
                "loaded (it comes with the EFA installer, and GPU operators leave it out), and "
                "libfabric's efa provider before 2.5 asks for a dma-buf of CUDA memory only if the "
                "program passes one (FI_MR_DMABUF).",
       .consequence = "NIXL, MPI or NCCL stop, or copy through host memory.",
       .checks = {"peer-memory", "registration-path", "gpu-driver"},
       .fix_now =
           "`lsmod | grep -E 'efa|peermem'`; `sudo modprobe efa_nv_peermem`; `fi_info -p efa "
           "-c FI_HMEM`; the open kernel modules of NVIDIA's driver for the dma-buf way",
       .fix_for_good = "The newest EFA installer on the host, and its libfabric in the image.",
       .sources = {{"https://github.com/ofiwg/libfabric/issues/12019", Stated::kCauseAndFix}},
       .explains = {"mr-bad-address", "ofi-call", "gdrcopy-pin", "efa-endpoint"}},
      {.id = "mpi-ofi-call",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "Open MPI took libfabric for a NIC on which it does not work: UCX is meant for it",
       .texts = {{"Open MPI failed an OFI Libfabric library call"},
                 {"mtl_ofi_component.c{}{fails}"},
                 {"btl_ofi_component.c{}{fails}"},
                 {"help-mpi-btl-ofi"},
                 {"help-mtl-ofi"}},
       .cause = "Open MPI tries its OFI transports (mtl ofi, btl ofi) on each NIC that libfabric "
                "names. On Mellanox NICs with UCX they are not needed, and the verbs provider may "
                "lack a call (Function not implemented) or be of another release. On Slingshot, "
                "Omni-Path and EFA it is the right way: then libfabric's provider is missing or "
                "too old.",
       .consequence = "This transport is left out, and the job goes by another one or stops.",
       .checks = {"mpi-ucx", "rdma-nics"},
       .fix_now = "`gdr mpi check`; "
                  "`mpirun --mca pml ucx --mca btl ^openib,ofi --mca mtl ^ofi PROGRAM`; `fi_info`; "
                  "`FI_LOG_LEVEL=warn` in the environment of a run",
       .fix_for_good =
           "`mtl = ^ofi` and `btl = ^ofi` in `etc/openmpi-mca-params.conf` of that Open "
           "MPI, or the vendor's MPI (Cray MPICH, HPC-X).",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/networking/ofi.html",
                    Stated::kFix},
                   {"https://github.com/MFlowCode/MFC/pull/475", Stated::kSymptom}},
       .explains = {"ofi-call", "mpi-network", "openfabrics-device", "verbs-call"}},
      {.id = "mpi-transports-differ",
       .program = Program::kMpi,
       .certainty = Certainty::kCertain,
       .title = "Two hosts of the job chose different transports of Open MPI (pml)",
       .texts = {{"selected pml {word} but peer {word} on {word} selected pml"}},
       .cause = "One host found a NIC that its UCX (or libfabric) can use, the other did not: its "
                "driver is not loaded, its port is down, its container was not given the NIC, or "
                "its Open MPI or UCX is another build.",
       .consequence = "The job stops in MPI_Init.",
       .checks = {"rdma-nics", "port-state", "mpi-ucx"},
       .fix_now = "On the host that did not choose ucx: `gdr mpi check`; `ibv_devinfo | grep -E "
                  "'hca_id|state'`; "
                  "`ucx_info -d | grep Transport`; `ompi_info | grep pml`; to see the reason: "
                  "`mpirun --mca pml ucx --mca pml_ucx_verbose 10 PROGRAM`",
       .fix_for_good = "",
       .sources = {{"https://github.com/open-mpi/ompi/blob/main/ompi/mca/pml/base/"
                    "pml_base_select.c",
                    Stated::kCause}},
       .explains = {"mpi-network", "mpi-component"}},
      {.id = "mpi-component",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "Open MPI has no transport left: the one asked for is not built in, does not load "
                "or finds no NIC",
       .texts = {{"does not support MPI_THREAD_MULTIPLE. PML UCX could not be selected"},
                 {"osc_rdma{}no BTL available for RMA window"},
                 {"no suitable btls found"},
                 {"No components were able to be opened in the pml framework"},
                 {"PML {word} cannot be selected"},
                 {"A requested component was not found, or was unable to be opened"},
                 {"At least one pair of MPI processes are unable to reach each other"},
                 {"requested transport{}openib,ofi,ucx"}},
       .cause =
           "`--mca pml ucx`, `--mca btl openib` or the same by `OMPI_MCA_` variables or "
           "`openmpi-mca-params.conf` leaves no other choice, and this component is missing in "
           "this build (openib is gone since Open MPI 5), one of its libraries is not where the "
           "loader looks, or it found no NIC or port that works. The Component line names it. "
           "`self` and a component for the own host (sm, vader) must be in a list of btl.",
       .consequence = "MPI_Init fails.",
       .checks = {"mpi-ucx", "rdma-nics"},
       .fix_now = "`ompi_info | grep -E 'pml|btl|mtl'`; `env | grep OMPI_MCA`; then without these "
                  "options, or `mpirun --mca pml_base_verbose 10 --mca pml_ucx_verbose 10 PROGRAM` "
                  "for the reason; `ucx_info -d | grep Transport`",
       .fix_for_good = "An Open MPI built with `--with-ucx`.",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/networking/index.html",
                    Stated::kCause},
                   {"https://github.com/open-mpi/ompi/issues/9838", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/5284", Stated::kSymptom}},
       .explains = {"mpi-network"}},
      {.id = "mpi-cuda-call",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "A call of CUDA failed inside Open MPI: no context, another GPU, or the GPU itself",
       .texts = {general("The call to cuMemHostRegister"), general("The call to cuEvent"),
                 general("The call to cuMemcpy"), general("The call to cuPointerGetAttribute"),
                 general("The call to cuCtx"), general("The call to cuStream"),
                 general("CUDA: error calling cuPointerGetAttribute"),
                 general("CUDA: error calling cuCtx"), general("CUDA: unable to set ctx"),
                 general("help-mpi-common-cuda"), general("help-accelerator-cuda")},
       .cause = "The thread that called MPI has no CUDA context or that of another GPU "
                "(`cudaSetDevice` must come first), the buffer was freed, or an earlier kernel has "
                "failed, which CUDA reports with the next call. cuMemHostRegister: the limit of "
                "locked memory, or a kernel that refuses; MPI goes on without it.",
       .consequence = "Copies of GPU memory fail, or are slower.",
       .checks = {"gpus", "locked-memory"},
       .fix_now =
           "`compute-sanitizer PROGRAM` shows an earlier error; in the program `cudaSetDevice` "
           "before `MPI_Init`; `nvidia-smi -q | grep -iE 'xid|ecc|compute mode'`",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/accelerators/cuda.html",
                    Stated::kCause}},
       .explains = {"mpi-network"}},
      {.id = "mpi-gpu-pointer",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title =
           "MPI reads GPU memory as if it were host memory: this MPI or its transport knows no "
           "CUDA",
       .texts = {{"Signal code: Invalid permissions", 1},
                 {"libmpi.so{word}(", 2},
                 {"libopen-pal.so{word}(", 2},
                 {"mca_btl_{word}(", 2},
                 {"mca_pml_{word}(", 2},
                 {"libucp.so{word}(", 2}},
       .cause =
           "The address at which the program failed is one of a GPU. This MPI was built without "
           "CUDA, its UCX has no CUDA modules, or it took a transport that has no part in it "
           "(`--mca pml ob1` with openib or sm, `UCX_TLS` without cuda_copy).",
       .consequence = "The program crashes with GPU buffers; host buffers work.",
       .checks = {"mpi-ucx", "gpus"},
       .fix_now =
           "`ompi_info --parsable --all | grep mpi_built_with_cuda_support:value`; `ucx_info "
           "-d | grep cuda`; then `mpirun --mca pml ucx -x UCX_TLS=rc,sm,self,cuda_copy,"
           "cuda_ipc PROGRAM`, or `UCX_TLS` unset",
       .fix_for_good = "Open MPI with `--with-cuda=/usr/local/cuda --with-ucx=PREFIX` and UCX with "
                       "`--with-cuda`, or HPC-X.",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/accelerators/cuda.html",
                    Stated::kCause},
                   {"https://github.com/open-mpi/ompi/issues/11399", Stated::kSymptom}},
       .explains = {"library-crash", "mpi-network"}},
      {.id = "mpi-tcp-interface",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "Open MPI's TCP goes by an interface that the other host does not reach (docker0, "
                "virbr0)",
       .texts = {{"btl_tcp_endpoint{}{fails}"},
                 {"btl_tcp.c:{}{fails}"},
                 {"btl:tcp: path mismatch"},
                 {"Open MPI detected an inbound MPI TCP connection request"},
                 {"WARNING: Open MPI failed to TCP connect to a peer MPI process"},
                 {"help-mpi-btl-tcp"}},
       .cause =
           "Without RDMA, or for its own start, Open MPI takes every interface that is up, also "
           "bridges of containers and virtual machines whose addresses all hosts have alike. "
           "A firewall, or a peer that has ended before, looks the same.",
       .consequence = "The job hangs or stops; no NIC of RDMA is concerned.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`mpirun --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 "
           "PROGRAM`; with the network that all hosts share; by RDMA: `mpirun --mca pml ucx "
           "PROGRAM`; then the first error in every rank's output",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/networking/tcp.html",
                    Stated::kCauseAndFix}},
       .explains = {"mpi-network"}},
      {.id = "mpi-launch",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The job was not started (slots, daemons, PMIx): no network of MPI has run yet",
       .texts = {general("There are not enough slots available"), general("ompi_rte_init failed"),
                 general("orte_init failed"), general("pmix_init failed"),
                 general("PMIX ERROR: OUT-OF-RESOURCE"), general("PMIX ERROR: ERROR"),
                 general("PMIX ERROR: PMIX"), general("mpirun was unable to launch"),
                 general("mpirun was unable to find the specified executable"),
                 general("An ORTE daemon has unexpectedly failed"),
                 general("a daemon process was not able to start")},
       .unless = {"UCX ERROR", "libfabric:"},
       .cause = "More processes than the host list or scheduler allows, a login to the other host "
                "that fails, another Open MPI there, or a PMIx in srun or the container that does "
                "not fit the one in MPI.",
       .consequence = "No process of the job runs.",
       .checks = {},
       .fix_now = "`mpirun --version`; on each host; `ssh HOST true`; `srun --mpi=list`; too few "
                  "slots: `mpirun --host HOST:8 -np 8 PROGRAM`; PMIx in a container: `export "
                  "PMIX_MCA_gds=hash PMIX_MCA_psec=native`",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/launching-apps/troubleshooting.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/open-mpi/ompi/issues/12146", Stated::kSymptom}},
       .explains = {}},
      {.id = "ofi-two-releases",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "The two sides run different releases or settings of libfabric (rxm)",
       .texts = {{"cm version mismatch"},
                 {"cm ctrl_version mismatch"},
                 {"cm op_version mismatch"},
                 {"eager_limit mismatch"},
                 {"rxm_{word}{}endianness mismatch"}},
       .cause = "The utility provider rxm refuses a peer whose protocol or `FI_OFI_RXM_` sizes are "
                "not its own.",
       .consequence = "The connection is refused.",
       .checks = {},
       .fix_now = "`fi_info --version`; on both sides; `env | grep FI_`; the same for both",
       .fix_for_good = "One libfabric for all hosts of the job.",
       .sources = {{"https://github.com/ofiwg/libfabric/blob/main/prov/rxm/src/rxm_conn.c",
                    Stated::kCause}},
       .explains = {"ofi-call", "rdma-cm-rejected", "mpi-network"}},
      {.id = "ofi-gid",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "libfabric's verbs provider uses a GID that does not reach the peer",
       .texts = {{"libfabric:{}verbs{}ibv_create_ah"},
                 {"libfabric:{}verbs{}ibv_query_gid"},
                 {"libfabric:{}verbs{}ibv_modify_qp"},
                 {"FI_VERBS_GID_IDX && {fails}"},
                 {"ofi_rxd unusable on RoCE"}},
       .cause =
           "The provider takes GID index 0 for datagrams unless told otherwise; on RoCE that is "
           "a link-local address, and RoCE v1 on most NICs.",
       .consequence = "Packets do not arrive; connections time out.",
       .checks = {"roce-gid"},
       .fix_now = "`show_gids`; `export FI_VERBS_GID_IDX=3`; with the index of the RoCE v2 entry "
                  "that has the IPv4 address; or `export FI_PROVIDER='verbs;ofi_rxm'`; which "
                  "connects by IP address",
       .fix_for_good = "",
       .sources = {{"https://github.com/ofiwg/libfabric/issues/12673", Stated::kCauseAndFix},
                   {"https://ofiwg.github.io/libfabric/main/man/fi_verbs.7.html", Stated::kFix}},
       .explains = {"wrong-gid", "ofi-call"}},
      {.id = "psm-endpoint",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "Omni-Path or PSM (psm2, psm3) cannot open its NIC or reach the peer",
       .texts = {general("psm3 && {fails}"), general("psm2 && {fails}"), general("psm3_ep_connect"),
                 general("psm2_ep_connect"), general("psm_ep_connect"), general("PSM3 can't open"),
                 general("hfi_userinit && {fails}"), general("hfi1 && {fails}"),
                 general("hfi1_0 && not")},
       .cause = "The NIC is down or not given to the container (`/dev/hfi1_0`, "
                "`/dev/infiniband/uverbsN`), all its contexts are taken by other processes, or the "
                "peer has ended. PSM reaches GPU memory by GPUDirect only in its CUDA build and "
                "with the driver's own module.",
       .consequence = "MPI or NCCL stops, or takes another network.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "`opainfo`; `hfi1_control -i`; `ls -l /dev/hfi1_0`; `PSM3_VERBOSE_ENV=1` in the "
                  "environment of a run; fewer processes a NIC, or `PSM2_SHAREDCONTEXTS=1`",
       .fix_for_good = "",
       .sources = {{"https://ofiwg.github.io/libfabric/main/man/fi_psm3.7.html", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
