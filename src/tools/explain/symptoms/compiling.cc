// Programs that use RDMA or GPUs and are not configured or compiled: headers, libraries and
// packages that the build looks for.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& compile_symptoms() {
  static const Symptoms table = {
      {.id = "rdma-headers-old",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built: its source wants newer RDMA headers than are installed",
       .texts = {{"'{rdma-name}{word}' undeclared"},
                 {"'query_hca_cap_out' undeclared"},
                 {"'{rdma-name}{word}' was not declared"},
                 {"undeclared identifier '{rdma-name}"},
                 {"implicit declaration of function '{rdma-name}"},
                 {"undeclared function '{rdma-name}"},
                 {"unknown type name '{rdma-name}"},
                 {"'{rdma-name}{word}' has no member"},
                 {"'{rdma-name}{word}' {}has no member named"},
                 {"no member named {}'{rdma-name}"},
                 {"'{rdma-name}{word}' has incomplete type"},
                 {"incomplete type '{rdma-name}"},
                 {"use of undefined type '{rdma-name}"},
                 {"undefined reference to 'ibv_reg_dmabuf_mr"},
                 {"undefined reference to 'mlx5dv_reg_dmabuf_mr"},
                 {"undefined reference to 'ibv_query_gid_"},
                 {"undefined reference to 'ibv_query_qp_data"},
                 {"checking for ibv_reg_dmabuf_mr in -libverbs... no"},
                 {"doesn't support dmabuf mr registration"},
                 {"cannot find function '{rdma-name}"},
                 {"cannot find type '{rdma-name}"},
                 {"cannot find value '{rdma-name}"},
                 {"no '{rdma-name}{word}' in the root"},
                 {"Some IB verbs are not found. Please make sure OFED"},
                 {"Please upgrade MellanoxOFED to"}},
       .cause =
           "The line names a call, constant or field that the installed headers do not have: "
           "libibverbs (rdma-core, or MLNX_OFED's) is older than the program. `ibv_reg_dmabuf_mr` "
           "came with rdma-core 34, `ibv_query_gid_ex` with 32, the crypto calls of mlx5 with 40; "
           "names behind `did you mean 'IBV_EXP_` are those of MLNX_OFED 4.",
       .consequence = "The program is not built, or built without that feature (dma-buf).",
       .checks = {},
       .fix_now =
           "`pkg-config --modversion libibverbs libmlx5`; `dpkg -l libibverbs-dev` or `rpm -q "
           "rdma-core-devel`; then newer headers (rdma-core of a newer distribution, DOCA-OFED), "
           "or a release of the program as old as they are, and configure anew in a clean folder",
       .fix_for_good = "Build and run in one image, with one rdma-core.",
       .sources = {{"https://github.com/ofiwg/libfabric/issues/8401", Stated::kCauseAndFix},
                   {"https://github.com/linux-rdma/perftest/issues/209", Stated::kSymptom},
                   {"https://github.com/linux-rdma/perftest/issues/184", Stated::kSymptom}},
       .explains = {"rdma-headers-absent", "library-version", "verbs-call", "provider-not-built",
                    "rdma-not-linked"}},
      {.id = "verbs-experimental",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "The program was written for MLNX_OFED 4's own verbs (ibv_exp_), which are gone",
       .texts = {{"infiniband/verbs_exp.h: No such file"},
                 {"infiniband/verbs_exp.h' file not found"},
                 {"infiniband/mlx5_hw.h: No such file"},
                 {"infiniband/arch.h: No such file"},
                 {"infiniband/driver_exp.h: No such file"},
                 {"'ibv_exp_{word}' undeclared"},
                 {"'struct ibv_exp_{word}' has no member"},
                 {"'ibv_exp_{word}' was not declared"},
                 {"implicit declaration of function 'ibv_exp_"},
                 {"unknown type name 'ibv_exp_"},
                 {"ibv_exp_{word} has incomplete type"},
                 {"ibv_exp_{word}' has incomplete type"},
                 {"undefined reference to 'ibv_exp_"},
                 general("undefined symbol: ibv_exp_"),
                 {"symbol ibv_exp_{word}, version {word} not defined"},
                 general("undefined symbol: uct_ib_exp_")},
       .cause =
           "`ibv_exp_` calls and `verbs_exp.h` were in MLNX_OFED up to 4.9 only. Since "
           "MLNX_OFED 5 and in every distribution libibverbs is that of rdma-core, in which "
           "the same is done with `ibv_..._ex` and `mlx5dv_`. UCX looks for `mlx5_hw.h` only where "
           "it was configured `--without-mlx5-dv`: leave that out.",
       .consequence = "The program is not built, or not loaded.",
       .checks = {},
       .fix_now = "`ofed_info -s`; `grep -c ibv_exp_ /usr/include/infiniband/*.h`; then a release "
                  "of the program that is made for rdma-core, built anew on this host; or, for "
                  "ConnectX-3 and old programs, MLNX_OFED 4.9 (LTS)",
       .fix_for_good = "",
       .sources = {{"https://github.com/openucx/ucx/issues/4883", Stated::kCause},
                   {"https://github.com/microsoft/Freeflow/issues/16", Stated::kSymptom}},
       .explains = {"rdma-headers-absent", "rdma-headers-old", "library-version",
                    "no-rdma-provider", "verbs-call"}},
      {.id = "pciutils-absent",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "perftest is not configured: the headers or library of pciutils are missing",
       .texts = {{"pciutils header files not found"},
                 {"configure: error: libpci not found"},
                 {"pci/pci.h: No such file"},
                 general("cannot find -lpci"),
                 {"undefined reference to 'pci_{word}'"}},
       .cause = "perftest looks up the NIC's PCI function with libpci. pciutils itself has only "
                "`lspci`; header and library are in its package for development. A libpci that "
                "was built by hand is static and found only with `CPPFLAGS` and `LDFLAGS`.",
       .consequence = "perftest is not built; RDMA is not concerned.",
       .checks = {},
       .fix_now = "`sudo apt-get install libpci-dev`; Fedora, RHEL: `sudo dnf install "
                  "pciutils-devel`; then `./autogen.sh` and `./configure` again; without root: "
                  "`make install-lib SHARED=yes PREFIX=$HOME/pci` in pciutils, and that folder in "
                  "`CPPFLAGS`, `LDFLAGS` and `LD_LIBRARY_PATH`",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/blob/master/configure.ac",
                    Stated::kCauseAndFix},
                   {"https://github.com/linux-rdma/perftest/issues/315", Stated::kSymptom}},
       .explains = {}},
      {.id = "cuda-build",
       .program = Program::kCuda,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built with CUDA: its headers or libraries are not found",
       .texts = {{"CUDA support is requested but cuda packages"},
                 {"CUDA support requested but CUDA runtime not available"},
                 {"CUDA headers not found"},
                 {"given but libcudart not found"},
                 {"<cuda_runtime.h> not found"},
                 {"Could not find cuda.h"},
                 {"Expected file {}cuda.h not found"},
                 {"Directory {word}cuda{word} not found"},
                 {"requires either CUDA, ROCm, or Neuron"},
                 {"nvml header not found"},
                 {"libnvidia-ml not found"},
                 {"checking for cuda library (cuda){}not found"},
                 {"plugin requested but CUDA dependency not found"},
                 {"fatal error: cuda.h: No such file"},
                 {"fatal error: cuda_runtime.h: No such file"},
                 {"fatal error: cuda_runtime_api.h: No such file"},
                 {"fatal error: nvml.h: No such file"},
                 {"cuda.h' file not found"},
                 {"cuda_runtime.h' file not found"},
                 general("cannot find -lcuda"),
                 general("cannot find -lnvidia-ml"),
                 {"undefined reference to 'cuMem"},
                 {"undefined reference to 'cuCtx"},
                 {"undefined reference to 'cuDevice"},
                 {"undefined reference to 'cuInit"},
                 {"undefined reference to 'cuda{word}'"},
                 {"undefined reference to 'nvml"},
                 {"Could NOT find CUDAToolkit"},
                 {"Could NOT find CUDA (missing"},
                 {"CUDA environment variable is not defined"},
                 {"CUDA_HOME environment variable is not set"},
                 {"CUDA_HOME is not set"}},
       .cause =
           "The headers are those of the CUDA toolkit (a driver or a runtime image has none), and "
           "the folder that was named is not its root. `-lcuda` and `-lnvidia-ml` are libraries "
           "of the driver: on a machine or in an image without it the toolkit's `stubs` stand in "
           "for them while the program is linked.",
       .consequence = "The program is not built, or built without GPU memory.",
       .checks = {"gpu-driver"},
       .fix_now = "`ls -d /usr/local/cuda*/include/cuda.h /usr/local/cuda*/lib64/stubs`; then "
                  "`./configure --with-cuda=/usr/local/cuda` (perftest: "
                  "`CUDA_H_PATH=/usr/local/cuda/include/cuda.h`); without a driver: `export "
                  "LIBRARY_PATH=/usr/local/cuda/lib64/stubs`; in a container the image's `-devel` "
                  "variant",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/cuda/cuda-installation-guide-linux/index.html",
                    Stated::kFix},
                   {"https://github.com/rapidsai/ucx-py/issues/628", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/3694", Stated::kSymptom}},
       .explains = {"library-absent", "built-without-cuda"}},
      {.id = "rocm-build",
       .program = Program::kCuda,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built for AMD GPUs: ROCm is not found",
       .texts = {{"rocm not enabled/supported"},
                 {"ROCR support requested but ROCR runtime"},
                 {"ROCR headers not found"},
                 {"ROCm support requested but not found"},
                 {"<hsa/hsa.h> not found"},
                 {"HIP Runtime not found"},
                 {"hip/hip_runtime.h: No such file"},
                 {"hsa/hsa.h: No such file"},
                 {"hip/hip_runtime_api.h: No such file"},
                 general("cannot find -lamdhip64"),
                 general("cannot find -lhsa-runtime64")},
       .cause = "The build looks for ROCm's headers and libraries (HIP, HSA) below the folder that "
                "`--with-rocm` or `ROCM_PATH` names, mostly `/opt/rocm`, and they are not there: "
                "only the driver is installed, or another version's folder.",
       .consequence = "The program is not built, or built without AMD GPU memory.",
       .checks = {"gpu-driver"},
       .fix_now =
           "`ls -d /opt/rocm*/include/hip/hip_runtime.h`; `sudo apt-get install rocm-hip-sdk "
           "rocm-dev`; then `./configure --with-rocm=/opt/rocm` (perftest: `--enable-rocm "
           "--with-rocm=/opt/rocm`)",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/blob/master/configure.ac",
                    Stated::kFix}},
       .explains = {}},
      {.id = "transport-build",
       .program = Program::kMpi,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built: UCX, libfabric, UCC or SHARP is not where it looks",
       .texts = {{"UCX support requested but not found"},
                 {"UCX support is requested but UCX packages"},
                 {"UCX version is too old, please upgrade"},
                 {"UCX support skipped because version"},
                 {"UCC support requested but not found"},
                 {"PSM2 support requested but not found"},
                 {"SHARP support is requested but SHARP packages"},
                 {"OFI libfabric support requested"},
                 {"could not find a working Libfabric install"},
                 {"Libfabric {word} or later is required"},
                 {"fabtests requires libfabric"},
                 {"checking for rdma/fabric.h... no"},
                 {"rdma/fabric.h: No such file"},
                 {"rdma/fabric.h' file not found"},
                 {"rdma/fi_{word}.h: No such file"},
                 {"ucp/api/ucp.h: No such file"},
                 {"ucp/api/ucp.h' file not found"},
                 {"plugin requested but UCX dependency not found"},
                 {"plugin requested but libfabric dependency not found"},
                 {"plugin requested but doca-gpunetio dependency not found"},
                 {"plugin requested but {word} library not found"},
                 {"No package 'libfabric' found"},
                 {"No package 'ucx' found"},
                 {"Package libfabric was not found"},
                 {"Package ucx was not found"},
                 {"package configuration file provided by 'ucx'"},
                 {"package configuration file provided by 'libfabric'"},
                 {"Could NOT find UCX"},
                 {"Could NOT find libfabric"},
                 {"Could NOT find OFI"}},
       .cause = "The folder that `--with-ucx`, `--with-libfabric` or the like names has no header "
                "or library of it: it was not installed there (`make install` failed or went "
                "elsewhere), only its run-time package is there, or it is older than the program "
                "takes.",
       .consequence = "The program is not built, or without that transport.",
       .checks = {"mpi-ucx"},
       .fix_now =
           "`ls FOLDER/include FOLDER/lib*` with the folder that was named; `pkg-config "
           "--modversion ucx libfabric`; `sudo apt-get install libucx-dev libfabric-dev`, or "
           "build it with `--prefix=FOLDER` and `make install` first; on AWS: "
           "`--with-libfabric=/opt/amazon/efa`",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/installing-open-mpi/configure-cli-options/"
                    "networking.html",
                    Stated::kFix},
                   {"https://github.com/open-mpi/ompi/issues/12433", Stated::kSymptom},
                   {"https://github.com/aws/aws-ofi-nccl/issues/16", Stated::kSymptom}},
       .explains = {"rdma-headers-absent", "ofi-call", "sharp", "psm-endpoint", "verbs-call"}},
      {.id = "nccl-build",
       .program = Program::kNccl,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built: NCCL's headers or library are not found",
       .texts = {{"nccl.h: No such file"},
                 {"nccl_net.h: No such file"},
                 {"nccl_device.h: No such file"},
                 {"nccl.h' file not found"},
                 general("cannot find -lnccl"),
                 {"Could NOT find NCCL"},
                 {"undefined reference to 'nccl"},
                 {"'ncclNet_v{word}' does not name a type"},
                 {"unknown type name 'ncclNet"},
                 {"does not contain include/nccl_device.h"}},
       .cause = "NCCL's header and library are in its package for development, or in `build` of "
                "its source; `NCCL_HOME` names another folder. `nccl_net.h` is not installed with "
                "NCCL at all: a plugin brings its own copy, and old releases took it from NCCL's "
                "source. `undefined reference`: an NCCL older than the header.",
       .consequence = "The program or plugin is not built.",
       .checks = {},
       .fix_now = "`ls -l /usr/include/nccl.h $NCCL_HOME/include/nccl.h`; `ldconfig -p | grep "
                  "nccl`; `sudo apt-get install libnccl2 libnccl-dev`; then `make "
                  "NCCL_HOME=FOLDER`; for a plugin its current release",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/install-guide/index.html",
                    Stated::kFix},
                   {"https://github.com/aws/aws-ofi-nccl/issues/4", Stated::kSymptom}},
       .explains = {"library-version"}},
      {.id = "rdma-core-build",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title =
           "rdma-core itself does not build or install: a tool that its build wants is missing",
       .texts = {{"pandoc-prebuilt"},
                 {"pandoc is needed by"},
                 {"pandoc NOT found and NO prebuilt man pages"},
                 {"rst2man NOT found and NO prebuilt man pages"},
                 {"Failed to load prebuilt pandoc output"},
                 {"Unable to run buildlib/relpath"},
                 {"glibc header file patching for sparse failed"},
                 {"pyverbs build requested but python development"},
                 {"custom build command for 'ibverbs-sys"},
                 {"custom build command for 'rdma-core-sys"},
                 {"PyverbsUserError(f'"},
                 {"rdma-core{}Error compiling Cython"},
                 {"pyverbs && Cython"},
                 {"pyverbs{}.pyx:{number}:"},
                 {"rdma-core{}size of unnamed array is negative"},
                 {"IBACM_SERVER_PATH"},
                 {"libibverbs/CMakeFiles/ && FAILED:"},
                 {"librdmacm/CMakeFiles/ && FAILED:"},
                 {"rdma-core-{word}.rpm && Failed build dependencies"},
                 {"Could NOT find PythonInterp", 1},
                 {"rdma-core", 2}},
       .cause =
           "A checkout of rdma-core has no ready-made manual pages (those are in the release's "
           "tarball only): it wants pandoc and rst2man, python3, libnl and, for pyverbs, a Cython "
           "that fits (rdma-core before 60 does not build with Cython 3.2). Crates such as "
           "ibverbs-sys build an rdma-core of their own: they want the same and libclang, and a "
           "short path (`size of unnamed array is negative`: the folder's name is too long for a "
           "socket's).",
       .consequence = "rdma-core is not installed; what the distribution has still works.",
       .checks = {},
       .fix_now = "`sudo apt-get install build-essential cmake ninja-build pkg-config libudev-dev "
                  "libnl-3-dev libnl-route-3-dev python3-dev cython3 python3-docutils pandoc "
                  "libclang-dev`; or without them: `cmake -DNO_MAN_PAGES=1 -DNO_PYVERBS=1 -GNinja "
                  "..`; or the release's tarball in place of a checkout",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/README.md", Stated::kFix},
                   {"https://github.com/linux-rdma/rdma-core/pull/800", Stated::kCauseAndFix},
                   {"https://github.com/jonhoo/rust-ibverbs/issues/87", Stated::kCause}},
       .explains = {"umad", "verbs-call", "rdma-headers-absent"}},
      {.id = "module-compiler",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "A driver's module is built with another compiler than the kernel was",
       .texts = {{"Compiler version check failed"},
                 {"The C compiler && does not appear to be able to"},
                 {"unrecognized command-line option '-ftrivial-auto-var-init"},
                 {"unrecognized command line option '-ftrivial-auto-var-init"},
                 {"unrecognized command-line option '-mharden-sls"},
                 {"unrecognized command line option '-mharden-sls"},
                 {"unrecognized command-line option '-fmin-function-alignment"},
                 {"unrecognized command-line option '-mindirect-branch"},
                 {"unrecognized command line option '-mindirect-branch"},
                 {"unrecognized command-line option '-fzero-call-used-regs"},
                 {"Compiler lacks asm-goto support"},
                 {"Compiler lacks retpoline support"},
                 {"incompatible gcc/plugin versions"},
                 {"gcc-{word}: not found && make"}},
       .cause = "A kernel's modules are built with the compiler that built the kernel: it has "
                "options that an older gcc does not know. Ubuntu's HWE kernels of 22.04 (6.5, 6.8) "
                "were built with gcc-12.",
       .consequence = "No module is built: NVIDIA's driver, `nvidia-peermem`, gdrdrv, OFED.",
       .checks = {"gpu-driver"},
       .fix_now = "`cat /proc/version`; `gcc --version`; `sudo apt-get install gcc-12`; then the "
                  "build again with it: `sudo CC=gcc-12 dkms autoinstall`",
       .fix_for_good = "`sudo update-alternatives --install /usr/bin/gcc gcc /usr/bin/gcc-12 120`",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "conftest.sh",
                    Stated::kCause}},
       .explains = {"dkms-build", "ofed-build", "gdrcopy-build", "peermem-build",
                    "driver-container"}},
      {.id = "kernel-realtime",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "NVIDIA's driver is not built for a real-time kernel (PREEMPT_RT)",
       .texts = {{"does not support real-time kernels"},
                 {"does not currently support Xen kernels"},
                 {"PREEMPT_RT patch set applied"}},
       .cause = "The kernel that runs is the real-time (or Xen) flavour, which the driver's build "
                "refuses on purpose.",
       .consequence = "No NVIDIA driver and no `nvidia-peermem` on this kernel.",
       .checks = {"gpu-driver"},
       .fix_now =
           "`uname -v`; boot the ordinary kernel of the distribution; or try it unsupported: "
           "`export IGNORE_PREEMPT_RT_PRESENCE=1` before the driver's installation",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "conftest.sh",
                    Stated::kCauseAndFix}},
       .explains = {"dkms-build", "driver-container"}},
  };
  return table;
}

}  // namespace gdr::explain
