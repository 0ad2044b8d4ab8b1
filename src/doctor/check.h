// A check: one thing that GPUDirect RDMA depends on, judged from what the machine shows. Each is a
// file of its own in checks/ that defines one constant of this type, listed in checks/all.h.
//
//   const Check kAccessControl{
//       "acs", Area::kPcie, "PCIe Access Control Services on the ports between GPU and NIC",
//       kExplanation, 60, Cost::kPassive, find_access_control};
//
// A check only reads. It says nothing where it does not apply (no GPU, no such NIC), and kUnknown,
// with what it takes to know, where something could not be read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gdr::doctor {

struct Host;

enum class Outcome : std::uint8_t { kOk, kWarn, kFail, kUnknown };

// What was read, and where: {"/sys/module/nvidia_peermem/version", "not there"}.
struct Evidence {
  std::string source, value;
};

// How to set it right. Each a command line, or a sentence where no command can do it; empty: none.
struct Fix {
  std::string now;       // until the next boot
  std::string for_good;  // over boots
};

struct Finding {
  Outcome outcome = Outcome::kOk;
  std::string subject;  // "GPU 0000:19:00.0 - mlx5_0", "mlx5_0 port 1"; empty: the host
  std::string summary;  // one line: "request redirect is set at 0000:18:00.0"
  std::vector<Evidence> evidence;
  std::string consequence;  // one sentence; empty where all is well
  Fix fix;
};
using Findings = std::vector<Finding>;

enum class Area : std::uint8_t { kGpu, kRegistration, kPcie, kNic, kProcess };
enum class Cost : std::uint8_t {
  kPassive,  // reads files
  kProbe     // starts CUDA or touches a NIC: takes its time, and only on this machine
};

struct Check {
  const char* id;  // lower case with dashes, as typed after --explain: "locked-memory"
  Area area;
  const char* title;
  const char* explanation;  // what it is about, how it is judged, what to do; several sentences
  // What is to be set right first has the lowest: without a GPU its links do not matter.
  unsigned rank;
  Cost cost;
  Findings (*find)(const Host& host);
};

const char* name_of(Outcome outcome);  // "ok", "warn", "fail", "unknown"
const char* name_of(Area area);        // "gpu", "registration", "pcie", "nic", "process"

}  // namespace gdr::doctor
