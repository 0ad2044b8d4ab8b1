// Programs and extensions that are not linked, or whose parts do not find each other when they are
// loaded: the order of libraries, copies within wheels, device code, PyTorch's interface.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& link_symptoms() {
  static const Symptoms table = {
      {.id = "rdma-not-linked",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A program is linked without the RDMA library whose calls it makes",
       .texts = {{"undefined reference to '{rdma-name}"},
                 {"undefined reference to symbol '{rdma-name}"},
                 {"undefined reference to 'nl_{word}'"},
                 {"undefined reference to 'nla_{word}'"},
                 {"undefined reference to 'nlmsg_"},
                 {"undefined reference to 'rtnl_"},
                 {"undefined symbol: ibv_{word} && ld{}: error:"},
                 {"libibverbs.so{}: error adding symbols: DSO missing"},
                 {"librdmacm.so{}: error adding symbols: DSO missing"},
                 {"libmlx5.so{}: error adding symbols: DSO missing"},
                 {"libibverbs.a{}undefined reference"},
                 {"librdmacm.a{}undefined reference"},
                 general("libibverbs.so{}, needed by {}not found"),
                 general("librdmacm.so{}, needed by {}not found"),
                 general("libmlx5.so{}, needed by {}not found"),
                 general("cannot find -lnl-"),
                 general("cannot find -lnl3"),
                 general("undefined symbols for{}ibv_")},
       .cause =
           "The header was found, and the library is not on the linker's line, or stands before "
           "the objects that use it (`--as-needed` then drops it): `ibv_` is in libibverbs, "
           "`rdma_` in librdmacm, `mlx5dv_` in libmlx5, `nl_` and `rtnl_` in libnl-3 and "
           "libnl-route-3, which a static libibverbs wants besides. Where only the newest calls "
           "are undefined, the library found is older than the header.",
       .consequence = "The program is not built; no NIC has been asked.",
       .checks = {},
       .fix_now = "Name the libraries behind the objects: `cc -o prog prog.o $(pkg-config --libs "
                  "libibverbs librdmacm libmlx5)`; static: `sudo apt-get install libnl-3-dev "
                  "libnl-route-3-dev` and `pkg-config --static --libs libibverbs`; which call is "
                  "where: `nm -D /usr/lib/*/libibverbs.so.1 | grep CALL`",
       .fix_for_good = "In CMake `target_link_libraries(... ibverbs rdmacm)` of the library that "
                       "makes the calls, not `LDFLAGS`.",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/man/"
                    "ibv_get_device_list.3.md",
                    Stated::kFix},
                   {"https://github.com/axboe/fio/pull/1816", Stated::kCause},
                   {"https://github.com/bytedance/libnvmf/issues/3", Stated::kSymptom}},
       .explains = {"library-version", "verbs-call", "rdma-headers-absent", "built-without-rdma"}},
      {.id = "rdma-headers-mixed",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A program cannot be built: RDMA headers of two releases meet, or calls changed",
       .texts = {{"conflicting types for '{rdma-name}"},
                 {"redefinition of '{rdma-name}"},
                 {"redeclaration of '{rdma-name}"},
                 {"conflicting declaration '{rdma-name}"},
                 {"conflicting declaration of {}'{rdma-name}"},
                 {"previous declaration of '{rdma-name}"},
                 {"too many arguments to function '{rdma-name}"},
                 {"too few arguments to function '{rdma-name}"},
                 {"declaration of {}{rdma-name}{word} has a different exception specifier"},
                 {"invalid conversion from {} to 'ibv_"},
                 {"invalid conversion from {} to 'enum ibv_"}},
       .cause = "The program has copies of its own of some RDMA headers or constants, or the "
                "compiler finds those of MLNX_OFED or of another prefix beside the "
                "distribution's; or its source is older than the library, whose calls have other "
                "arguments now (C++ is stricter with enums than the source was).",
       .consequence = "The program is not built.",
       .checks = {},
       .fix_now = "`find / -name verbs.h -path '*infiniband*' -not -path '/proc/*'`; one set only: "
                  "remove the others or their `-I`; `echo '#include <infiniband/verbs.h>' | cc -E "
                  "-x c - | grep -m1 'infiniband/verbs.h'`; shows the one taken; then a release of "
                  "the program as new as it",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/verbs.h",
                    Stated::kSymptom}},
       .explains = {"rdma-headers-old", "verbs-call", "wrong-gid", "nic-query"}},
      {.id = "autotools-absent",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "autoconf, automake, libtool or pkg-config is missing where a program is built",
       .texts = {{"autoreconf: command not found"},
                 {"autoreconf: not found"},
                 {"aclocal: command not found"},
                 {"libtoolize: command not found"},
                 {"possibly undefined macro: AC_PROG_LIBTOOL"},
                 {"possibly undefined macro: LT_INIT"},
                 {"possibly undefined macro: AM_"},
                 {"syntax error near unexpected token 'PKG_CHECK_MODULES"},
                 {"pkg-config: command not found"},
                 {"missing: line {number}: aclocal-"},
                 {"missing: line {number}: automake-"}},
       .cause = "perftest, UCX, libfabric and the NCCL plugins are configured by `./autogen.sh`, "
                "which needs these tools; a release's tarball needs none of them.",
       .consequence = "`configure` is not made, or not complete.",
       .checks = {},
       .fix_now =
           "`sudo apt-get install autoconf automake libtool pkg-config`; Fedora, RHEL: `sudo "
           "dnf install autoconf automake libtool pkgconf-pkg-config`; then `./autogen.sh` "
           "again",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest#readme", Stated::kFix}},
       .explains = {}},
      {.id = "static-providers",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A program that was linked statically has no driver of the NIC in it",
       .texts = {{"undefined reference to 'verbs_provider_"},
                 {"undefined reference to 'ibv_static_providers"},
                 general("static{}libibverbs && No {}devices"),
                 general("statically linked && libibverbs"),
                 general("libibverbs.a && provider"),
                 general("Using 'dlopen' in statically linked{}libibverbs")},
       .cause = "libibverbs loads the driver of each NIC (libmlx5-rdmav34.so and its like) as a "
                "plugin, which a static program cannot: the drivers must be linked in too, with "
                "`RDMA_STATIC_PROVIDERS`.",
       .consequence = "The program finds no RDMA device, or is not linked.",
       .checks = {},
       .fix_now = "Link libibverbs dynamically; or `cc -DRDMA_STATIC_PROVIDERS=mlx5 prog.c -static "
                  "$(pkg-config --static --libs libibverbs libmlx5)`",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/man/"
                    "ibv_get_device_list.3.md",
                    Stated::kCauseAndFix}},
       .explains = {"rdma-not-linked", "no-rdma-device"}},
      {.id = "wheel-libibverbs",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "A Python package brings its own libibverbs, which does not fit the host's drivers",
       .texts = {general(".libs/libibverbs-"), general(".libs/libmlx5-"),
                 general(".libs/librdmacm-"), general("auditwheel && ibverbs"),
                 general("auditwheel && rdma"), general("wheel && bundle{}libibverbs"),
                 general("wheel && vendor{}libibverbs"), general("libibverbs && wheel's"),
                 general("conda{}/lib/libibverbs.so")},
       .unless = {"/conda-bld/"},
       .cause =
           "The wheel (or conda environment) has a renamed copy of libibverbs. The NIC's driver "
           "(libmlx5-rdmav34.so) of the host links to the host's libibverbs: it is not found, "
           "refused for its version, or registers with the other copy, so that the program sees "
           "no NIC.",
       .consequence = "No RDMA device in this process, or two libraries that crash each other.",
       .checks = {"rdma-nics"},
       .fix_now = "`python3 -c 'import importlib.metadata as m; print([f for d in "
                  "m.distributions() for f in (d.files or []) if \"ibverbs\" in str(f)])'`; `grep "
                  "ibverbs /proc/PID/maps`; two paths there: remove the copy in the package's "
                  "`.libs` folder so that the system's is taken (`LD_PRELOAD` with the system's "
                  "libibverbs.so.1 shows whether that is it), or a release that does not bundle it",
       .fix_for_good = "Wheels built with `auditwheel repair --exclude libibverbs.so.1 --exclude "
                       "librdmacm.so.1 --exclude libmlx5.so.1`.",
       .sources = {{"https://github.com/ska-sa/spead2/issues/68", Stated::kCauseAndFix}},
       .explains = {"library-version", "no-rdma-device", "no-rdma-provider", "library-absent"}},
      {.id = "nvshmem-build",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built or loaded: NVSHMEM is not where it looks",
       .texts = {{"nvshmem.h: No such file"},
                 {"nvshmemx.h: No such file"},
                 {"nvshmem.h' file not found"},
                 {"nvshmem{word}.h: No such file"},
                 {"provided by 'NVSHMEM'"},
                 {"Could NOT find NVSHMEM"},
                 {"libnvshmem{}missing and no known rule"},
                 {"libnvshmem_host.so not found under"},
                 {"libnvshmem{}not found under"},
                 {"NVSHMEM directory does not exist"},
                 {"NVSHMEM_DIR{}not {}set"},
                 {"ibgda_device.cuh && is undefined"},
                 {"nvshmemi_ibgda_device_state_t && is undefined"},
                 {"NVSHMEM_DIR{} and NVSHMEM is not installed"},
                 {"NVSHMEM_HOME is not set"},
                 {"No module named 'nvidia.nvshmem'"},
                 {"cannot find -lnvshmem"},
                 {"cannot find -l:libnvshmem"},
                 {"libnvshmem_device.a && No such file"},
                 {"libnvshmem_host.so{word}: cannot open shared object"},
                 {"libnvshmem.so{}: cannot open shared object"}},
       .cause =
           "`NVSHMEM_DIR` (or CMake's path) names a folder without `include/nvshmem.h` or "
           "`lib/libnvshmem_host.so`: another package's partial copy (flashinfer's), a wheel that "
           "has only `libnvshmem_host.so.3`, or Debian's layout below "
           "`/usr/lib/x86_64-linux-gnu/nvshmem/12`. At run time: that `lib` is not in "
           "`LD_LIBRARY_PATH`.",
       .consequence = "DeepEP and others are not built, or not loaded.",
       .checks = {},
       .fix_now =
           "`find / -name nvshmem.h -not -path '*/flashinfer*'`; `pip install "
           "nvidia-nvshmem-cu12`; `export NVSHMEM_DIR=$(python3 -c 'import nvidia.nvshmem as n; "
           "print(n.__path__[0])')`; in it `ln -s libnvshmem_host.so.3 lib/libnvshmem_host.so`; "
           "then the build anew; to load: `export "
           "LD_LIBRARY_PATH=$NVSHMEM_DIR/lib:$LD_LIBRARY_PATH`",
       .fix_for_good = "",
       .sources = {{"https://github.com/ishandhanani/srt-slurm/pull/242", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nvshmem/issues/54", Stated::kSymptom}},
       .explains = {"library-absent", "nvshmem-no-transport", "nvshmem-without-ibgda"}},
      {.id = "deepep-extension",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title =
           "DeepEP's extension lacks code of its own: it was built without NVSHMEM or in parts",
       .texts = {{"undefined symbol: _ZN7deep_ep"},
                 {"undefined symbol: __cudaRegisterLinkedBinary"},
                 {"undefined symbol: __fatbinwrap"},
                 {"undefined reference to '__cudaRegisterLinkedBinary"},
                 {"deep_ep{}NVSHMEM is disabled"},
                 {"Undefined reference to && __nv_save_fatbin"}},
       .cause = "The kernels between hosts (`deep_ep::internode`) are compiled only where "
                "`NVSHMEM_DIR` is set at the build, with device code that is linked in a step of "
                "its own (`-rdc=true`, `-dlink`). Object files of an earlier build with other "
                "settings, or a build without that step, leave their names open.",
       .consequence = "`import deep_ep` fails.",
       .checks = {},
       .fix_now = "`rm -rf build deep_ep_cpp*.so *.egg-info`; `export NVSHMEM_DIR=FOLDER "
                  "TORCH_CUDA_ARCH_LIST=9.0`; `pip install --no-build-isolation .` with nvcc of "
                  "PyTorch's CUDA version",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/blob/main/setup.py", Stated::kCause},
                   {"https://github.com/deepseek-ai/DeepEP/issues/429", Stated::kSymptom},
                   {"https://github.com/deepseek-ai/DeepEP/issues/481", Stated::kSymptom}},
       .explains = {"engine-package-absent", "library-version"}},
      {.id = "torch-abi",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "A Python extension was built for another PyTorch than the one installed",
       .texts = {general("undefined symbol: _ZN3c10"), general("undefined symbol: _ZNK3c10"),
                 general("undefined symbol: _ZN5torch"), general("undefined symbol: _ZNK5torch"),
                 general("undefined symbol: _ZN2at"), general("undefined symbol: _ZNK2at"),
                 general("undefined symbol: aoti_torch")},
       .cause = "The name that is missing is PyTorch's (c10, at, torch): the extension (DeepEP, "
                "flash-attn, mooncake) was compiled against another release of PyTorch or with "
                "the other C++ interface (`_GLIBCXX_USE_CXX11_ABI`).",
       .consequence = "The extension is not loaded; RDMA is not concerned.",
       .checks = {},
       .fix_now = "`python3 -c 'import torch; print(torch.__version__, torch.version.cuda, "
                  "torch._C._GLIBCXX_USE_CXX11_ABI)'`; then `pip install --force-reinstall "
                  "--no-cache-dir --no-build-isolation PACKAGE` in this environment",
       .fix_for_good = "",
       .sources = {{"https://docs.pytorch.org/docs/stable/cpp_extension.html", Stated::kCause}},
       .explains = {"engine-package-absent"}},
      {.id = "ofi-plugin-libfabric",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "aws-ofi-nccl runs with an older libfabric than the one it was built with",
       .texts = {{"Couldn't set FI_OPT_EFA_"},
                 {"Couldn't set FI_OPT_{word} && NET/OFI"},
                 {"NET/OFI{}FI_OPT_{word}{}RC: -"},
                 {"Unable to set FI_OPT_"},
                 {"version 'FABRIC_{word} not found && nccl"},
                 {"GDAKI support disabled (requires libfabric"}},
       .cause = "The option came with a newer libfabric. The plugin was compiled with its headers "
                "and now finds an older `libfabric.so.1`: the host's mounted into the container, "
                "the distribution's before `/opt/amazon/efa/lib`, or another image.",
       .consequence = "The plugin refuses to work, or goes without that feature.",
       .checks = {},
       .fix_now = "`fi_info --version`; `ldd $(ldconfig -p | awk '/libnccl-net/{print $NF; exit}') "
                  "| grep fabric`; then one EFA installer release in the host and in the image, "
                  "with `LD_LIBRARY_PATH=/opt/amazon/efa/lib`, or the plugin built anew here",
       .fix_for_good = "Plugin and libfabric of one EFA installer (it brings both).",
       .sources = {{"https://github.com/aws/aws-ofi-nccl/issues/241", Stated::kCause},
                   {"https://github.com/aws/aws-ofi-nccl/issues/1353", Stated::kSymptom}},
       .explains = {"ofi-call", "nccl-warning", "library-version"}},
      {.id = "rust-bindings",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "Rust's bindings of libibverbs are not generated: bindgen does not fit clang",
       .texts = {{"ib_uverbs_{word} is not a valid Ident"},
                 {"ib_uverbs_{word}' is not a valid Ident"},
                 {"ibv_{word}' is not a valid Ident"},
                 {"'ibv_{word}' doesn't implement 'Debug'"},
                 general("Unable to find libclang && rdma"),
                 general("Unable to find libclang && ibverbs"),
                 general("bindgen && infiniband && {fails}")},
       .cause = "The crate (rdma-sys, ibverbs-sys) reads `infiniband/verbs.h` with bindgen. "
                "bindgen before 0.62 cannot read what clang 16 and later make of its unnamed "
                "unions.",
       .consequence = "The crate is not built; libibverbs itself is well.",
       .checks = {},
       .fix_now = "`clang --version`; `LIBCLANG_PATH=/usr/lib/llvm-15/lib cargo build` with clang "
                  "15; or a release of the crate with bindgen 0.62 or later (`cargo update`)",
       .fix_for_good = "",
       .sources = {{"https://github.com/datenlord/rdma-sys/issues/26", Stated::kCauseAndFix},
                   {"https://github.com/jonhoo/rust-ibverbs/pull/25", Stated::kCause}},
       .explains = {"rdma-headers-absent", "verbs-call"}},
      {.id = "tool-absent",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "A program of RDMA is not installed here",
       .texts = {{"{rdma-tool}: command not found"},
                 {"mst: command not found"},
                 {"flint: command not found"},
                 {"rdma: command not found"},
                 {"dcb: command not found"},
                 {"{rdma-tool}: not found"},
                 {"command not found: {rdma-tool}"},
                 {"'{rdma-tool}': executable file not found"},
                 {"/{rdma-tool}: No such file or directory"},
                 {"{rdma-tool} is not installed"},
                 {"{rdma-tool}: No such file or directory && execve"},
                 {"execvp{}{rdma-tool}: No such file or directory"}},
       .cause = "The program is in a package of its own, which this host or image does not have.",
       .consequence = "The test or query was not made; this says nothing about RDMA.",
       .checks = {},
       .fix_now =
           "`sudo apt-get install perftest ibverbs-utils rdmacm-utils infiniband-diags "
           "ibverbs-providers iproute2 mstflint ucx-utils libfabric-bin`; Fedora, RHEL: `sudo dnf "
           "install perftest libibverbs-utils librdmacm-utils infiniband-diags mstflint ucx "
           "libfabric`; show_gids, ibdev2netdev, mst and ofed_info come with DOCA-OFED only "
           "(`rdma link` and `mstconfig` do the same)",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/README.md",
                    Stated::kSymptom}},
       .explains = {"mst-tools", "perftest-option"}},
  };
  return table;
}

}  // namespace gdr::explain
