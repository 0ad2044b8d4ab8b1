#include "host/registration/ways.h"

#include <algorithm>

#include "base/environment.h"

namespace gdr::host {
namespace {

constexpr unsigned kNoEnd = ~0u;
// Exported as a dma-buf, and imported by the RDMA core.
constexpr unsigned kFirstOpenDriver = 515;
constexpr Release kFirstImport{5, 12};

// What a driver brings. Kepler to Blackwell are the same here.
struct DriverRow {
  unsigned first, last;  // branches
  Flavour flavour;
  PeerModule module;
  bool exports_dma_buf;
};
constexpr DriverRow kDrivers[] = {
    // nvidia-peermem came with R470 and CUDA 11.4; before, nv_peer_mem was a package of its own
    // (gpu-operator 1.8, "GPUDirect RDMA"; README of driver 470.82, chapter 40).
    {1, 469, Flavour::kProprietary, PeerModule::kNvPeerMem, false},
    {470, kFirstOpenDriver - 1, Flavour::kProprietary, PeerModule::kNvidiaPeermem, false},
    // Two flavours from 515 on (driver installation guide, "Kernel Modules"); the export takes the
    // open one (GPU operator, "GPUDirect RDMA": DMA-BUF needs the open kernel module).
    {kFirstOpenDriver, kNoEnd, Flavour::kProprietary, PeerModule::kNvidiaPeermem, false},
    {kFirstOpenDriver, kNoEnd, Flavour::kOpen, PeerModule::kNvidiaPeermem, true},
};

// Which flavour does not drive which GPU.
struct Refusal {
  Generation gpu;
  Flavour flavour;
  const char* why;
  const char* remedy;
};
constexpr Refusal kRefusals[] = {
    // "cannot support GPUs before Turing, because the open kernel modules depend on the GPU System
    // Processor" (driver README, "Open Linux Kernel Modules").
    {Generation::kBeforeTuring, Flavour::kOpen,
     "the open kernel module does not support GPUs before Turing",
     "install the proprietary kernel module of the GPU driver"},
    // "NVIDIA Transitions Fully Towards Open-Source GPU Kernel Modules", 2024-07-17: Grace Hopper
    // and Blackwell must use the open modules.
    {Generation::kOpenOnly, Flavour::kProprietary,
     "the proprietary kernel module does not support this GPU",
     "install the open kernel module of the GPU driver"},
};

struct StackRow {
  RdmaStack stack;
  bool peer_memory;
  const char* why_not;
};
constexpr StackRow kStacks[] = {
    // Never merged into mainline; Debian 6.1 and 6.12 without the symbol, Talos issue 12021.
    {RdmaStack::kInbox, false, "this kernel has no peer-memory interface"},
    // Launchpad bug 1923104 (Ubuntu 5.4 and later), NV-Kernels' peer_mem.c.
    {RdmaStack::kPeerMemoryKernel, true, ""},
    // MLNX_OFED's and DOCA-OFED's ib_core or ib_uverbs export ib_register_peer_memory_client.
    {RdmaStack::kOfed, true, ""},
    // efa_nv_peermem asks the GPU driver itself (amzn-drivers); the in-tree driver takes dma-bufs
    // (amzn-drivers issue 282).
    {RdmaStack::kEfa, true, ""},
};

// Kernels with peer memory. Ubuntu's lost it with 6.8 (Canonical, "GPUDirect over
// Infiniband Migration Paths"); linux-nvidia and NVIDIA's BaseOS kept it (NV-Kernels); openEuler's
// tree has peer_mem.c.
struct KernelRow {
  const char* mark;  // in the release: "6.8.0-1021-nvidia"
  Release first, last;
  RdmaStack stack;
};
constexpr Release kAny{~0u, 0};
constexpr KernelRow kKernels[] = {
    {"-nvidia", {5, 4}, kAny, RdmaStack::kPeerMemoryKernel},
    {".oe", {5, 10}, kAny, RdmaStack::kPeerMemoryKernel},
    {"-generic", {5, 4}, {6, 5}, RdmaStack::kPeerMemoryKernel},
    {"-lowlatency", {5, 4}, {6, 5}, RdmaStack::kPeerMemoryKernel},
    {"-generic", {1, 0}, kAny, RdmaStack::kInbox},
    {"-lowlatency", {1, 0}, kAny, RdmaStack::kInbox},
    {".el", {1, 0}, kAny, RdmaStack::kInbox},       // Red Hat and its likes
    {".fc", {1, 0}, kAny, RdmaStack::kInbox},       // Fedora
    {"-amd64", {1, 0}, kAny, RdmaStack::kInbox},    // Debian
    {"-arm64", {1, 0}, kAny, RdmaStack::kInbox},    // Debian
    {"-default", {1, 0}, kAny, RdmaStack::kInbox},  // SUSE
    {"-talos", {1, 0}, kAny, RdmaStack::kInbox},
    {".amzn", {1, 0}, kAny, RdmaStack::kInbox},
};

const DriverRow* row_of(const RegistrationFacts& facts) {
  const auto* const row = std::ranges::find_if(kDrivers, [&](const DriverRow& each) {
    return facts.driver.major >= each.first && facts.driver.major <= each.last &&
           facts.flavour == each.flavour;
  });
  return row == std::end(kDrivers) ? nullptr : row;
}

const Refusal* refusal_of(const RegistrationFacts& facts) {
  const auto* const row = std::ranges::find_if(kRefusals, [&](const Refusal& each) {
    return facts.gpu == each.gpu && facts.flavour == each.flavour;
  });
  return row == std::end(kRefusals) ? nullptr : row;
}

const StackRow* row_of(RdmaStack stack) {
  const auto* const row = std::ranges::find(kStacks, stack, &StackRow::stack);
  return row == std::end(kStacks) ? nullptr : row;
}

std::string driver_of(const RegistrationFacts& facts) {
  return "driver " +
         (facts.driver_name.empty() ? std::to_string(facts.driver.major) : facts.driver_name);
}

std::string kernel_of(const RegistrationFacts& facts) {
  if (!facts.kernel_name.empty()) return "kernel " + facts.kernel_name;
  return "kernel " + std::to_string(facts.kernel.major) + "." + std::to_string(facts.kernel.minor);
}

Tri imports_dma_buf(const RegistrationFacts& facts) {
  if (facts.import_carried_back) return Tri::kYes;
  if (!facts.kernel.known()) return Tri::kUnknown;
  return facts.kernel < kFirstImport ? Tri::kNo : Tri::kYes;
}

void judge_dma_buf(const RegistrationFacts& facts, RegistrationWays& ways) {
  const auto say = [&](Tri answer, std::string why) {
    ways.dma_buf = answer;
    ways.why_no_dma_buf = std::move(why);
  };
  const Tri imports = imports_dma_buf(facts);
  if (const Refusal* refusal = refusal_of(facts)) return say(Tri::kNo, refusal->why);
  if (imports == Tri::kNo) return say(Tri::kNo, kernel_of(facts) + " is older than 5.12");
  if (facts.driver.known() && facts.driver.major < kFirstOpenDriver) {
    return say(Tri::kNo, driver_of(facts) + " is older than 515");
  }
  if (facts.flavour == Flavour::kProprietary) {
    return say(Tri::kNo, driver_of(facts) + " is the proprietary kernel module");
  }
  if (facts.flavour == Flavour::kUnknown) {
    return say(Tri::kUnknown, "cannot tell whether the open kernel module is loaded");
  }
  if (!facts.driver.known()) return say(Tri::kUnknown, "cannot see the driver's release");
  if (imports == Tri::kUnknown) return say(Tri::kUnknown, "cannot see the kernel's release");
  const DriverRow* row = row_of(facts);
  say(row != nullptr && row->exports_dma_buf ? Tri::kYes : Tri::kUnknown, {});
}

// For a driver of unknown release or flavour: the module that all have included since 470.
PeerModule module_of(const RegistrationFacts& facts) {
  if (facts.stack == RdmaStack::kEfa) return PeerModule::kEfaNvPeermem;
  if (const DriverRow* row = row_of(facts)) return row->module;
  const bool before = facts.driver.known() && facts.driver.major < 470;
  return before ? PeerModule::kNvPeerMem : PeerModule::kNvidiaPeermem;
}

void judge_peer_memory(const RegistrationFacts& facts, RegistrationWays& ways) {
  ways.module = module_of(facts);
  const StackRow* stack = row_of(facts.stack);
  if (const Refusal* refusal = refusal_of(facts)) {
    ways.peer_memory = Tri::kNo;
    ways.why_no_peer_memory = refusal->why;
  } else if (stack == nullptr) {
    ways.why_no_peer_memory = "cannot tell whether the RDMA stack has a peer-memory interface";
  } else {
    ways.peer_memory = stack->peer_memory ? Tri::kYes : Tri::kNo;
    ways.why_no_peer_memory = stack->why_not;
  }
}

// What dma-buf lacks; empty: nothing, or no such thing helps.
std::string towards_dma_buf(const RegistrationFacts& facts) {
  if (facts.gpu == Generation::kBeforeTuring) return {};
  std::string steps;
  // A GPU whose number is not shown may be one that the open module does not drive.
  const std::string only =
      facts.gpu == Generation::kUnknown ? ", which supports Turing and later GPUs" : "";
  const bool old = facts.driver.known() && facts.driver.major < kFirstOpenDriver;
  if (old) {
    steps = "install GPU driver 515 or newer with its open kernel module" + only;
  } else if (facts.flavour == Flavour::kProprietary) {
    steps =
        "install the open kernel module of the same driver release (packages nvidia-open, or "
        "nvidia-driver-" +
        (facts.driver.known() ? std::to_string(facts.driver.major) : "RELEASE") +
        "-open on Ubuntu)" + only;
  }
  const bool driver = !steps.empty();
  if (imports_dma_buf(facts) == Tri::kNo) {
    steps += std::string(driver ? " and " : "") + "run kernel 5.12 or newer";
  }
  if (driver) steps += ", then reboot";
  return steps;
}

std::string towards_peer_memory(const RegistrationFacts& facts, PeerModule module) {
  if (facts.stack != RdmaStack::kInbox) return {};
  return module == PeerModule::kNvPeerMem
             ? "install MLNX_OFED and then nv_peer_mem, which drivers before 470 need"
             : "install DOCA-OFED (or MLNX_OFED), then reinstall the GPU driver's kernel modules, "
               "for peer memory";
}

std::string remedy_of(const RegistrationFacts& facts, const RegistrationWays& ways) {
  if (const Refusal* refusal = refusal_of(facts)) return refusal->remedy;
  if (ways.dma_buf != Tri::kNo) return {};
  const std::string dma_buf = towards_dma_buf(facts);
  std::string peer =
      ways.peer_memory == Tri::kNo ? towards_peer_memory(facts, ways.module) : std::string();
  if (dma_buf.empty()) return peer;
  return "for dma-buf " + dma_buf + (peer.empty() ? "" : "; or " + peer);
}

}  // namespace

Generation generation_of(std::uint16_t device) {
  // pci.ids: GV100 ends below 0x1e00, where TU102 begins; Ada ends below 0x2900, where GB100
  // begins.
  constexpr std::uint16_t kFirstTuring = 0x1e00, kFirstBlackwell = 0x2900, kGraceHopper = 0x2342;
  if (device == 0) return Generation::kUnknown;
  if (device < kFirstTuring) return Generation::kBeforeTuring;
  if (device >= kFirstBlackwell || device == kGraceHopper) return Generation::kOpenOnly;
  return Generation::kTuringToHopper;
}

RdmaStack inbox_stack_of(const std::string& kernel_release) {
  const Release release = parse_release(kernel_release);
  if (!release.known()) return RdmaStack::kUnknown;
  for (const KernelRow& row : kKernels) {
    if (kernel_release.find(row.mark) == std::string::npos) continue;
    const Release only{release.major, release.minor};
    if (!(only < row.first) && !(row.last < only)) return row.stack;
  }
  return RdmaStack::kUnknown;
}

const char* name_of(PeerModule module) {
  switch (module) {
    case PeerModule::kNvidiaPeermem:
      return "nvidia-peermem";
    case PeerModule::kNvPeerMem:
      return "nv_peer_mem";
    case PeerModule::kEfaNvPeermem:
      return "efa_nv_peermem";
    case PeerModule::kNone:
      break;
  }
  return "";
}

RegistrationWays ways_of(const RegistrationFacts& facts) {
  RegistrationWays ways;
  judge_dma_buf(facts, ways);
  judge_peer_memory(facts, ways);
  if (ways.dma_buf == Tri::kYes) {
    ways.best = Way::kDmaBuf;
  } else if (ways.peer_memory == Tri::kYes) {
    ways.best = Way::kPeerMemory;
  } else if (ways.dma_buf == Tri::kNo && ways.peer_memory == Tri::kNo) {
    ways.best = Way::kNone;
  }
  ways.remedy = remedy_of(facts, ways);
  return ways;
}

}  // namespace gdr::host
