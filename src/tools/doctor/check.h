// A check: one thing that GPUDirect RDMA depends on, judged from what the machine shows. Each is a
// file of its own in checks/ that defines one constant of this type, listed in checks/all.h.
//
//   const Check kAccessControl{
//       "acs", Area::kPcie, "PCIe Access Control Services on the ports between GPU and NIC",
//       kExplanation, 60, Cost::kPassive, find_access_control};
//
// A check only reads. If it does not apply, it says why (no GPU, no such NIC) and finds nothing. If
// it cannot read something, it finds kUnknown and says what is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/command.h"

namespace gdr::doctor {

struct Host;

enum class Outcome : std::uint8_t { kOk, kWarn, kFail, kUnknown };

// What was read, and where: {"/sys/module/nvidia_peermem/version", "not there"}.
struct Evidence {
  std::string source, value;
};

// An action is what the reader does. Its note says what no command can do, or what to know first.
// Any part may be empty.
//
//   Action action = to_type("sudo systemctl restart slurmd", "when its jobs may stop");
struct Action {
  text::Command command;
  std::string note;
  text::Command by_hand;  // does the same without gdr fix

  bool empty() const { return command.empty() && note.empty(); }
  bool operator==(const Action&) const = default;
};
Action to_type(text::Command command, std::string note = {});
Action to_type(text::CommandForm<0> command, std::string note = {});
Action to_do(std::string note);
// "sudo gdr fix acs --apply"
Action by_gdr_fix(const char* topic, text::Command by_hand = {});
// "sudo gdr fix acs --apply --persist"
Action by_gdr_fix_for_good(const char* topic, text::Command by_hand = {});

struct Fix {
  Action now;       // until the next boot
  Action for_good;  // over boots
  bool operator==(const Fix&) const = default;
};

struct Finding {
  Outcome outcome = Outcome::kOk;
  std::string subject;  // "GPU 0000:19:00.0 - mlx5_0", "mlx5_0 port 1"; empty: the host
  std::string summary;  // one line: "request redirect is set at 0000:18:00.0"
  std::vector<Evidence> evidence;
  std::string consequence;  // one sentence; empty if ok
  Fix fix;
};

struct Findings : std::vector<Finding> {
  using std::vector<Finding>::vector;
  std::string does_not_apply;  // why there are none, in a few words: "no RDMA NIC"
};
Findings does_not_apply(std::string why);

enum class Area : std::uint8_t { kGpu, kRegistration, kPcie, kNic, kProcess };
enum class Cost : std::uint8_t {
  kPassive,  // reads files
  kProbe     // starts CUDA or touches a NIC: takes its time, and only on this machine
};

struct Check {
  const char* id;  // lower case with dashes, as typed after --explain: "locked-memory"
  Area area;
  const char* title;
  const char* explanation;  // what it reads, how it judges, what to do; several sentences
  // What must work first has the lowest rank: without a GPU its links do not matter.
  unsigned rank;
  Cost cost;
  Findings (*find)(const Host& host);
};

const char* name_of(Outcome outcome);  // "ok", "warn", "fail", "unknown"
const char* name_of(Area area);        // "gpu", "registration", "pcie", "nic", "process"

}  // namespace gdr::doctor
