// Report: everything a run of the proof found, as data. Text and JSON are written from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/registration/loaded_module.h"
#include "participants/inventory.h"
#include "proof/diagnosis.h"
#include "proof/path.h"
#include "proof/run_facts.h"
#include "text/command.h"

namespace gdr::proof {

using participants::GpuEntry;
using participants::InventoryReport;
using participants::NicEntry;

struct RegistrationResult {
  std::string nic, gpu;
  std::string host;  // whose they are; empty: both ends are on this host
  MemoryKind memory = MemoryKind::kDevice;
  Registration registration = Registration::kDmaBuf;
  bool ok = false;
  std::int32_t code = 0;
  std::string detail;
  std::uint64_t size = 0;
  bool used = false;                        // the transfers of this memory go this way
  std::vector<host::LoadedModule> modules;  // of the kernel, which took it; of peer memory only
};

// "nvidia_peermem gdrkit-0.1.0"; empty: none is known
std::string modules_text(const RegistrationResult& result);
// "dma-buf", "peer memory", "peer memory (nvidia_peermem gdrkit-0.1.0)"
std::string way_text(const RegistrationResult& result);

enum class Status { kProved, kFailed, kNotProved };

// One mode in one direction between two NIC ports: a line of the report.
struct Check : Path {
  std::string mode, title;
  Status status = Status::kNotProved;
  unsigned transfers = 0;  // carried out
  unsigned failed = 0;
  std::uint64_t bytes = 0;            // checked
  std::uint64_t least = 0, most = 0;  // sizes
  Symptom symptom = Symptom::kNone;
  std::string reason;    // what was seen, or why nothing was proved
  std::string transfer;  // the one that `reason` is about
  Advice advice;
};

// One path, measured: times in nanoseconds, 0 where there is none. "Staged" is the same transfer
// through host memory.
struct Measurement : Path {
  std::uint64_t size = 0;                // of the large transfer
  std::uint64_t small_nanoseconds = 0;   // an 8-byte write, posted to completed; median
  std::uint64_t direct_nanoseconds = 0;  // one large write; median
  std::uint32_t in_flight = 0;           // large writes at once, and what they reach together
  double bytes_per_second = 0;
  std::uint64_t serial_nanoseconds = 0;  // staged, one copy after the other
  std::uint64_t double_nanoseconds = 0;  // staged, with two buffers
  std::string problem;
};

// What took part together: A's port and GPU, B's port and GPU. The GPUs by PCI address, as the
// processes that used them said; empty: host memory alone.
struct Participants {
  std::string from_nic, to_nic;
  std::string from_gpu, gpu;
  // How near each GPU is to its NIC in the PCI tree, in nvidia-smi's words ("PIX"); empty: not
  // known, as of stand-ins and in virtual machines.
  std::string from_grade, grade;
  std::string from_host{}, to_host{};  // empty: both on this host
};

enum class VerdictKind {
  kProved,
  kSimulated,    // stand-ins alone, on a machine without hardware or because of --soft
  kIncomplete,   // this machine has hardware, and a stand-in took the place of a part it lacks
  kInterrupted,  // it was ended before its end, and nothing had failed until then
  kFailed
};

// Exit statuses, on which prologs and readiness gates act: docs/exit-status.md.
inline constexpr int kSuccess = 0, kFailure = 1, kInPart = 3;

struct Verdict {
  VerdictKind kind = VerdictKind::kFailed;
  bool partial = false;                 // something asked for was neither proved nor refuted
  std::vector<std::string> on;          // which GPUs took part, by name and address
  std::vector<std::string> ways;        // by which their memory was registered
  std::vector<std::string> real;        // the parts that were not replaced
  std::vector<std::string> replaced;    // the parts that stand-ins played
  std::vector<std::string> not_proved;  // with the reason
  std::vector<std::string> seen;        // where it is no success
  std::vector<std::string> causes;      // in order of likelihood
  text::Command next;
  int exit_status() const {
    if (kind == VerdictKind::kFailed) return kFailure;
    const bool whole =
        !partial && kind != VerdictKind::kIncomplete && kind != VerdictKind::kInterrupted;
    return whole ? kSuccess : kInPart;
  }
};

// B's host, where it is another one.
struct OtherSide {
  RunFacts facts;
  InventoryReport inventory;
};

struct Report {
  RunFacts facts;
  InventoryReport inventory;
  std::optional<OtherSide> other;
  std::vector<Participants> participants;
  std::vector<RegistrationResult> registrations;
  std::vector<Check> checks;
  std::vector<Measurement> measurements;
  bool interrupted = false;
  Verdict verdict;
  double seconds = 0;

  // At either end.
  bool has_soft_nic() const { return inventory.soft_nic || (other && other->inventory.soft_nic); }
  bool has_soft_gpu() const { return inventory.soft_gpu || (other && other->inventory.soft_gpu); }
};

}  // namespace gdr::proof
