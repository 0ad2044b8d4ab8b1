// What a build left out: the results of configure, and programs that tell with what they were
// built.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& feature_symptoms() {
  static const Symptoms table = {
      {.id = "ucx-built-without-cuda",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "This UCX was configured without CUDA: it will not know GPU memory",
       .texts = {{"UCT modules: <"}, {"CUDA modules: < >"}, {"configure: WARNING: CUDA not found"}},
       .unless = {"UCT modules: <{}cuda", "UCT modules: <{}rocm"},
       .cause = "configure found no CUDA (headers and libcuda) and went on without it: `cuda` is "
                "not among the UCT modules. `--with-cuda=FOLDER` makes it an error in place of a "
                "note.",
       .consequence = "UCX, and MPI above it, takes host memory only; no GPUDirect RDMA.",
       .checks = {"mpi-ucx"},
       .fix_now = "`./contrib/configure-release --with-cuda=/usr/local/cuda --with-gdrcopy=/usr "
                  "--with-verbs --with-rdmacm --prefix=FOLDER`; `make -j8 install`; `ucx_info -d | "
                  "grep -E 'cuda|gdr|rc_mlx5'`",
       .fix_for_good = "",
       .sources = {{"https://openucx.readthedocs.io/en/master/running.html", Stated::kFix},
                   {"https://github.com/openucx/ucx/blob/master/configure.ac", Stated::kSymptom}},
       .explains = {"mpi-without-cuda"}},
      {.id = "ucx-built-without-ib",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "This UCX was configured without InfiniBand and RoCE (no ib module)",
       .texts = {{"configure: UCT modules: <"},
                 {"UCT modules: < >"},
                 {"configure: IB modules: < >"},
                 {"configure: WARNING: ibverbs header files not found"},
                 {"configure: WARNING: libibverbs not found"},
                 {"checking for ibv_get_device_list in -libverbs... no"},
                 general("ucx && wheel && without {}ibverbs"),
                 general("build ibverbs && wheel"),
                 general("ucx && pip && no {}InfiniBand"),
                 general("ucx && conda && no {}InfiniBand"),
                 general("ucx && conda && rdma && not {}being included"),
                 general("ucx && wheel && no {}InfiniBand")},
       .unless = {"UCT modules: <{} ib"},
       .cause =
           "configure found no `infiniband/verbs.h` or libibverbs and went on without them: "
           "`ib` is not among the UCT modules, so that UCX has TCP and shared memory only. The "
           "wheels libucx-cu12 and conda's packages of UCX before 1.14.1 were built so.",
       .consequence = "No RDMA at all with this UCX.",
       .checks = {"mpi-ucx"},
       .fix_now = "`sudo apt-get install libibverbs-dev librdmacm-dev`; Fedora, RHEL: `sudo dnf "
                  "install rdma-core-devel`; then `./contrib/configure-release --with-verbs "
                  "--with-rdmacm` again; `ucx_info -d | grep mlx5`",
       .fix_for_good = "",
       .sources = {{"https://github.com/openucx/ucx/blob/master/configure.ac", Stated::kCause}},
       .explains = {"ucx-transport-absent", "rdma-headers-absent"}},
      {.id = "provider-not-built",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "libfabric was configured without the provider (verbs, efa) that is wanted",
       .texts = {{"provider was requested, but cannot be compiled"},
                 {"configure: verbs provider: disabled"},
                 {"provider requires rdma-core v{number} or newer"},
                 {"efa provider: disabled", 1},
                 {"checking for efadv_query_{word} in -lefa... no", 1},
                 {"configure: error: Cannot continue", 2}},
       .cause =
           "libfabric's configure did not find what the provider needs: rdma-core's headers and "
           "libraries (efa: rdma-core 31 or later with libefa; verbs: librdmacm and "
           "`ibv_reg_dmabuf_mr` where dma-buf is asked for). The check before this line says "
           "which; a header that is there with a library that is not means a broken link "
           "(`libibverbs.so`) of the package for development.",
       .consequence = "configure stops, or `fi_info` will not list that provider.",
       .checks = {},
       .fix_now =
           "`grep -n -B4 -A12 -E 'ibv_|efadv_' config.log | tail -60`; `sudo apt-get install "
           "--reinstall libibverbs-dev librdmacm-dev ibverbs-providers`; then `./configure "
           "--enable-verbs --enable-efa`",
       .fix_for_good = "",
       .sources = {{"https://github.com/ofiwg/libfabric/issues/8401", Stated::kCauseAndFix},
                   {"https://github.com/ai-dynamo/nixl/pull/1018", Stated::kCause}},
       .explains = {"rdma-headers-absent", "ofi-no-provider"}},
      {.id = "built-without-cuda",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "This MPI or library was built without GPU memory (CUDA support: no)",
       .texts = {{"CUDA support: no"},
                 {"CUDA support: disabled"},
                 {"CUDA support: false"},
                 {"CUDA enabled: no"},
                 {"MPIX_Query_cuda_support() && zero"},
                 {"MPIX_Query_cuda_support && returns 0"},
                 {"MPIX_Query_cuda_support && false"},
                 {"does not have CUDA-aware support"},
                 {"CUDA-aware support: no"},
                 {"This MPI library does not have CUDA"},

                 {"CUDA accelerator: no"}},
       .cause = "configure was not given CUDA (`--with-cuda=FOLDER`), or did not find libcuda "
                "there: Open MPI 5 wants `--with-cuda-libdir` where libcuda.so is not in the "
                "toolkit's folder (`lib64/stubs`). With UCX below it, UCX must have CUDA as well.",
       .consequence = "A GPU pointer given to it is read as host memory: a crash, or a copy by "
                      "hand; no GPUDirect RDMA.",
       .checks = {"mpi-ucx"},
       .fix_now =
           "`./configure --with-cuda=/usr/local/cuda "
           "--with-cuda-libdir=/usr/local/cuda/lib64/stubs --with-ucx=FOLDER`; `make -j8 "
           "install`; `ompi_info --parsable --all | grep mpi_built_with_cuda_support:value`; "
           "`ucx_info -d | grep cuda`",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/accelerators/cuda.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/spack/spack/issues/36760", Stated::kCause},
                   {"https://github.com/open-mpi/ompi/issues/13130", Stated::kSymptom}},
       .explains = {"mpi-without-cuda"}},
      {.id = "built-without-transport",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "Open MPI was configured without a transport (Open UCX: no, OFI: no)",
       .texts = {{"Open UCX: no"},
                 {"OpenFabrics OFI Libfabric: no"},
                 {"OpenFabrics Libfabric: no"}},
       .unless = {"Open UCX: yes", "Libfabric: yes"},
       .cause =
           "configure's summary: without UCX (or libfabric for EFA, Omni-Path, Slingshot) Open "
           "MPI 5 has TCP and shared memory only; its old openib transport is gone.",
       .consequence = "MPI goes over TCP between hosts.",
       .checks = {"mpi-ucx"},
       .fix_now = "`./configure --with-ucx=FOLDER` or `--with-ofi=/opt/amazon/efa`; with these it "
                  "is an error where they are not found; then `ompi_info | grep -E 'pml: ucx|mtl: "
                  "ofi'`",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/networking/index.html",
                    Stated::kCause}},
       .explains = {}},
      {.id = "gdrcopy-not-built-in",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "The program was configured without GDRCopy: it did not find its header or library",
       .texts = {{"gdrcopy support is requested but gdrcopy packages"},
                 {"gdrcopy support requested but gdrcopy runtime"},
                 {"gdrcopy headers not found"},
                 {"GDR_COPY not found"},
                 {"GDR_COPY runtime not detected"},
                 {"GDRCopy not found, disabling"},
                 {"GDRCopy found but too old"},
                 {"gdrapi.h' file not found"},
                 {"unrecognized options: --with-gdrcopy"}},
       .cause = "`gdrapi.h` and libgdrapi are not in the folder that was named: GDRCopy was never "
                "installed there, or only its module (gdrdrv) is. Open MPI has no such option; it "
                "belongs to UCX.",
       .consequence = "Small messages from GPU memory are slower; GPUDirect RDMA does not need it.",
       .checks = {},
       .fix_now = "`sudo apt-get install libgdrapi gdrdrv-dkms` (NVIDIA's packages); or `make "
                  "prefix=/usr/local CUDA=/usr/local/cuda lib lib_install` in GDRCopy; then "
                  "`--with-gdrcopy=/usr/local` in UCX or libfabric",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/gdrcopy#build-and-installation", Stated::kFix}},
       .explains = {"gdrcopy-pin", "gdrcopy-library", "gdrcopy-build"}},
      {.id = "dpdk-without-mlx5",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "DPDK was built without its mlx5 driver: rdma-core was not found",
       .texts = {{"mlx5: missing dependency"},
                 {"mlx4: missing dependency"},
                 {"mana: missing dependency"},
                 {"missing dependency, 'libmlx5'"},
                 {"missing dependency, 'libibverbs'"},
                 {"Dependency 'libmlx5' not found"}},
       .cause = "meson found no libibverbs and libmlx5 with headers (`pkg-config`), and left the "
                "driver out without an error.",
       .consequence = "DPDK sees no ConnectX NIC.",
       .checks = {},
       .fix_now = "`sudo apt-get install libibverbs-dev`; Fedora, RHEL: `sudo dnf install "
                  "rdma-core-devel`; `pkg-config --modversion libmlx5`; then `meson setup --wipe "
                  "build`",
       .fix_for_good = "",
       .sources = {{"https://doc.dpdk.org/guides/platform/mlx5.html", Stated::kCauseAndFix}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
