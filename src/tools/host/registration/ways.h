// By which ways GPU memory can be registered with a NIC: the one table that gdr doctor, gdr fix and
// whatever else gives advice on it decide by. Driver, GPU, kernel and RDMA stack in; the ways, the
// best of them and what would make one out. No I/O: facts.h reads a machine.
//
//   const RegistrationWays ways = ways_of(facts);
//   if (ways.best == Way::kNone) say(ways.why(), ways.remedy);
#pragma once

#include <cstdint>
#include <string>

#include "host/release.h"
#include "host/tri.h"

namespace gdr::host {

// NVIDIA's driver has come with two kinds of kernel modules since 515.
enum class Flavour : std::uint8_t { kUnknown, kProprietary, kOpen };

// Which of them drive a GPU.
enum class Generation : std::uint8_t {
  kUnknown,
  kBeforeTuring,    // Kepler to Volta: the proprietary one alone
  kTuringToHopper,  // either
  kOpenOnly         // Blackwell and later, Grace Hopper: the open one alone
};
// By the PCI device number of a GPU of NVIDIA's.
Generation generation_of(std::uint16_t device);

// Who made the RDMA core that the kernel runs.
enum class RdmaStack : std::uint8_t {
  kUnknown,
  kInbox,             // of the kernel itself, as mainline has it
  kPeerMemoryKernel,  // of a distribution's kernel that was given the peer-memory interface
  kOfed,              // MLNX_OFED or DOCA-OFED
  kEfa                // NICs of AWS, whose driver has a way of its own
};
// By a kernel's release alone: what its distribution puts in. kUnknown where that is not known.
RdmaStack inbox_stack_of(const std::string& kernel_release);

enum class PeerModule : std::uint8_t { kNone, kNvidiaPeermem, kNvPeerMem, kEfaNvPeermem };
// The name for modprobe: "nvidia-peermem".
const char* name_of(PeerModule module);

struct RegistrationFacts {
  Release driver;
  Flavour flavour = Flavour::kUnknown;
  Generation gpu = Generation::kUnknown;  // of the host's oldest GPU
  Release kernel;
  bool import_carried_back = false;  // an older kernel or OFED has ib_umem_dmabuf_get
  RdmaStack stack = RdmaStack::kUnknown;

  // In their own words: "580.95.05", "6.8.0-45-generic"; empty: use the numbers above.
  std::string driver_name, kernel_name;
};

enum class Way : std::uint8_t { kUnknown, kNone, kDmaBuf, kPeerMemory };

struct RegistrationWays {
  Tri dma_buf = Tri::kUnknown;
  std::string why_no_dma_buf;  // also why it is unknown: "driver 535.54 is the proprietary …"
  // What the kernel's RDMA stack allows; whether the module is loaded is another matter.
  Tri peer_memory = Tri::kUnknown;
  std::string why_no_peer_memory;
  PeerModule module = PeerModule::kNone;  // the one that this driver and NIC take
  Way best = Way::kUnknown;
  std::string remedy;  // what makes a way, or a better one; empty: nothing is better
};
RegistrationWays ways_of(const RegistrationFacts& facts);

}  // namespace gdr::host
