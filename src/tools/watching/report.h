// Report: what was seen of a program, and the verdict: which way its bytes took.
//
//   const Report report = judge(observations);
//   fputs(to_text(report).c_str(), stderr);
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "text/envelope.h"
#include "watching/ports.h"
#include "watching/processes.h"
#include "watching/snapshot.h"

namespace gdr::watching {

enum class Verdict {
  kDirect,  // the NIC read or wrote GPU memory
  kStaged,  // RDMA from or to host memory, with copies between host and GPU beside it
  kHost,    // RDMA with host memory; no GPU memory was meant
  kNone     // not over RDMA
};
const char* name_of(Verdict verdict);  // "direct", for JSON

// What is known of the program's file before it starts.
struct ProgramFacts {
  std::string name;
  bool is_static = false, is_privileged = false, is_foreign = false;
};

struct Observations {
  ProgramFacts program;
  int status = 0;  // the program's exit status; 128 + N where signal N ended it
  double seconds = 0;
  Snapshot calls;
  std::map<pid_t, SeenProcess> processes;
  PortCounts ports;                         // what moved
  bool has_nic = false;                     // the kernel knows an RDMA device
  bool soft_nic = false, soft_gpu = false;  // a stand-in was loaded into one of the processes
  // The way between a GPU and a NIC: "PIX"; empty where it is not known.
  std::map<std::pair<std::string, std::string>, std::string> grades;  // by GPU address, NIC name
};

// Registrations of one kind with one NIC.
struct RegionGroup {
  std::string device, gpu, grade;
  ledger::Memory memory = ledger::Memory::kHost;
  ledger::Way way = ledger::Way::kAddress;
  bool managed = false;
  int error = 0;
  std::uint64_t count = 0, bytes = 0, largest = 0;
};

struct Report {
  Observations seen;
  Verdict verdict = Verdict::kNone;
  std::string headline;              // the verdict in a sentence
  std::vector<std::string> reasons;  // why, likeliest first; and what was not seen
  std::vector<RegionGroup> regions;
  std::uint64_t to_host = 0, to_gpu = 0;  // bytes of copies
};

Report judge(Observations seen);

// Whether one of the processes had this library, as far as was seen.
bool had_library(const Snapshot& calls, const std::map<pid_t, SeenProcess>& processes,
                 ledger::Library library);

std::string to_text(const Report& report);
std::string to_json(const Report& report, const text::Provenance& provenance = {});
// "RC", "UD"
std::string type_name(std::uint32_t type);

}  // namespace gdr::watching
