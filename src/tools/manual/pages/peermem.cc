#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

constexpr Entry kDriverFiles = {"/lib/modules/KERNEL",
                                "the modules of the GPU driver and of the RDMA stack; also below a "
                                "driver container's root, such as /run/nvidia/driver"};
constexpr Entry kStackFiles = {"/usr/src/ofa_kernel",
                               "Module.symvers of MLNX_OFED or DOCA-OFED, where there is one"};

Page peermem() {
  return {
      .name = "gdr peermem",
      .usages = {{"gdr peermem status [OPTIONS]"},
                 {"gdr peermem build [OPTIONS]"},
                 {"gdr peermem install [OPTIONS] [FILE]"},
                 {"gdr peermem remove [OPTIONS]"}},
      .help = {"Hosts with dma-buf need no such module: gdr peermem status tells."},
      .description =
          {"A peer-memory module (nvidia-peermem) lets a plain ibv_reg_mr register GPU memory. It "
           "stands between two kernel drivers, the GPU's and the RDMA stack, and has to fit both. "
           "Where NVIDIA's own was built for another driver or without the RDMA stack, modprobe "
           "says \"Invalid argument\" or \"Unknown symbol\": gdr peermem says why, and builds one "
           "that fits."},
      .exit_note = "Each of them has a page of its own.",
      .exit_status = {{"0", "done, or nothing to do"},
                      {"1", "refused, or failed and rolled back"},
                      {"2", "wrong use, or an unusable file"}},
      .examples = {{"gdr peermem status", "would a module help, and which fits"},
                   {"gdr peermem build", "build one for the driver that is here"},
                   {"sudo gdr peermem install nvidia-peermem.ko", "install it, also for each boot"},
                   {"sudo gdr peermem remove", "put everything back"}},
      .see_also = {"gdr-doctor(1)", "gdr-fix(1)", "gdr-peermem-build(1)", "gdr-peermem-install(1)",
                   "gdr-peermem-remove(1)", "gdr-peermem-status(1)", "modprobe(8)"}};
}

Page status() {
  return {
      .name = "gdr peermem status",
      .usages = {{"gdr peermem status [OPTIONS]"}},
      .description =
          {"gdr peermem status reads the files of the modules themselves, plain or packed by gzip, "
           "xz or zstd: what each exports and what each wants, with the versions of the symbols. "
           "So it says before loading what modprobe and the kernel's log would say after, and "
           "whether this host needs a module at all."},
      .exit_status = {{"0", "a module is loaded, fits or is not needed"},
                      {"1", "none is there that the kernel would take, or none can help"},
                      {"2", "wrong use, or an unusable file"}},
      .variables = {"NO_COLOR"},
      .files = {kDriverFiles, kStackFiles},
      .examples = {{"gdr peermem status"},
                   {"gdr peermem status --driver-root /run/nvidia/driver"},
                   {"gdr peermem status --driver-module nvidia.ko.xz --kernel 6.8.0-45-generic"}},
      .see_also = {"gdr-peermem(1)", "gdr-peermem-build(1)", "modinfo(8)"}};
}

Page build() {
  return {
      .name = "gdr peermem build",
      .usages = {{"gdr peermem build [OPTIONS]"}},
      .description =
          {"gdr peermem build compiles the module from the sources that gdrkit brings, against "
           "exactly the GPU driver and the RDMA stack that are here. It takes the symbol versions "
           "from their files, so it needs the kernel's headers, make and a compiler, but the "
           "sources of neither driver. Then it judges the result as gdr peermem status does."},
      .exit_status = {{"0", "built, and the kernel would take it"},
                      {"1", "not built"},
                      {"2", "wrong use, or an unusable file"}},
      .files = {{"nvidia-peermem.ko", "what it makes, in the current folder"},
                {"share/gdrkit/kernel", "the module's sources, beside the program's folder"},
                kDriverFiles,
                kStackFiles},
      .examples = {{"gdr peermem build"},
                   {"gdr peermem build --driver-root /run/nvidia/driver"},
                   {"gdr peermem build --driver-module nvidia.ko.zst --rdma /usr/src/ofa_kernel"}},
      .see_also = {"gdr-peermem-install(1)", "gdr-peermem-status(1)"}};
}

Page install() {
  return {
      .name = "gdr peermem install",
      .usages = {{"gdr peermem install [OPTIONS] [FILE]"}},
      .description =
          {"gdr peermem install verifies that the kernel would take the module, signs it where the "
           "kernel demands it, copies it below /lib/modules, loads it, and has it loaded at each "
           "boot. All changes go through the journal of gdr fix: all of them are made or none, "
           "and gdr peermem remove takes them back.",
           "With --dry-run, or on a captured root, it only shows the changes."},
      .exit_status = {{"0", "installed"},
                      {"1", "refused, or failed and was rolled back"},
                      {"2", "wrong use, or an unusable file"}},
      .variables = {"NO_COLOR"},
      .files = {{"/var/lib/gdrkit/fix", "the journal: each change with what was there before"},
                {"/var/lib/dkms", "the key of DKMS, which signs where no --key is given"}},
      .examples = {{"gdr peermem install --dry-run"},
                   {"sudo gdr peermem install nvidia-peermem.ko"},
                   {"sudo gdr peermem install --key mok.priv --cert mok.der FILE",
                    "with secure boot"}},
      .see_also = {"gdr-fix(1)", "gdr-peermem-build(1)", "gdr-peermem-remove(1)", "mokutil(1)"}};
}

Page remove() {
  return {
      .name = "gdr peermem remove",
      .usages = {{"gdr peermem remove [OPTIONS]"}},
      .description = {"gdr peermem remove unloads the module that gdr peermem install has "
                      "loaded and restores from the journal everything that it has changed, "
                      "last change first."},
      .exit_status = {{"0", "removed, or nothing to remove"},
                      {"1", "something was left as it is"},
                      {"2", "wrong use"}},
      .variables = {"NO_COLOR"},
      .files = {{"/var/lib/gdrkit/fix", "the journal"}},
      .examples = {{"sudo gdr peermem remove"}, {"sudo gdr peermem remove --json", "for a script"}},
      .see_also = {"gdr-fix(1)", "gdr-peermem-install(1)"}};
}

}  // namespace

Pages peermem_pages() { return {peermem(), status(), build(), install(), remove()}; }

}  // namespace gdr::manual
