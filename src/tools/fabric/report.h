// Report: everything that a run of `gdr fabric` found, as data: texts, page and documents are made
// of it, and it is read back from JSON to be compared.
//
//   Report report = ...;
//   for (const Finding& finding : report.findings) puts(finding.text.c_str());
//   return exit_status(report);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/round.h"
#include "text/command.h"

namespace gdr::fabric {

// A NIC port with the GPU whose memory it reaches. The same number is the same rail on every host.
struct Rail {
  std::string nic;  // "mlx5_0", "mlx5_1:2"
  std::string gpu;  // "GPU 3"; empty: host memory
  bool software_nic = false, software_gpu = false;
  double link_bits_per_second = 0;  // 0: not known, or software, which has none of its own
  std::string gid;                  // or "LID 17"
  // The switch that it is connected to, as LLDP or ibnetdiscover names it; empty: not known.
  std::string leaf, leaf_port;
};

enum class HostState : std::uint8_t {
  kThere,      // to the end
  kNeverCame,  // was expected by the launcher or the list, and did not join
  kLeftOut,    // joined, and cannot take part: `problem`
  kDied,       // the connection or the process ended
  kHung        // did not answer within the time of a step
};

struct Host {
  std::string name;
  HostState state = HostState::kThere;
  std::string problem;        // one line; empty where the state is kThere
  std::uint32_t lost_in = 0;  // kDied, kHung: the number of the round
  std::vector<Rail> rails;    // empty where it never came
  std::string leaf;           // of its first rail; empty: not known
};

enum class Outcome : std::uint8_t {
  kProved,      // every byte was compared and right
  kWrongBytes,  // arrived, and not as it was sent
  kFailed,      // a step ended with an error
  kAbandoned    // the other side was lost meanwhile: says nothing about this direction
};

// One direction of one rail in one round.
struct Measurement {
  HostIndex from = 0, to = 0;
  std::uint32_t round = 0;
  std::uint16_t rail = 0, far_rail = 0;  // far_rail differs where rails cross
  Outcome outcome = Outcome::kProved;
  bool is_retest = false;
  float bytes_per_second = 0;  // 0: not measured
  float latency = 0;  // nanoseconds, of an 8-byte read until its completion; 0: not measured
};

// The words for a measurement that is not kProved.
struct Incident {
  HostIndex from = 0, to = 0;
  std::uint32_t round = 0;
  std::uint16_t rail = 0;
  std::string text;  // "bit 3 of byte 17 flipped", "ibv_modify_qp to RTR: Connection timed out"
};

// Robust statistics of a rail over the fleet, without retests and crossed rails.
struct FleetFigure {
  double median = 0;     // 0: nothing was measured
  double deviation = 0;  // 1.4826 times the median absolute deviation
  double least = 0, most = 0;
};
struct FleetRail {
  FleetFigure bandwidth;  // bytes a second
  FleetFigure latency;    // nanoseconds
};

enum class Fault : std::uint8_t {
  kWrongBytes,
  kFailed,  // transfers end with errors
  kDied,
  kHung,
  kNeverCame,
  kLeftOut,
  kSlow,
  kHighLatency
};
// Where it is, as far as rows, columns and topology show it.
enum class Culprit : std::uint8_t { kFleet, kHost, kNic, kCable, kLeaf, kSpine, kPair };

struct Finding {
  Fault fault = Fault::kSlow;
  Culprit culprit = Culprit::kHost;
  std::vector<HostIndex>
      hosts;                  // kHost, kNic, kCable: one; kPair: two, from and to; kLeaf: its hosts
  std::int32_t rail = -1;     // -1: all of them
  std::string leaf;           // kLeaf
  bool is_confirmed = false;  // seen again alone on the fabric
  double share = 0;           // of what the fleet reaches; 0: not about speed
  std::string text;           // "n07: 15 % slower than the fleet on every rail"
  std::vector<std::string> evidence;  // a sentence each
  std::string doctor;  // the first finding of gdr doctor on that host; empty: none, not asked
  text::Command next;
};

enum class Pattern : std::uint8_t { kTournament, kShift, kBisection, kByLeaf };

struct Report {
  std::string collector;  // the host where the results were gathered
  std::string launcher;   // "srun, PMIx 4.2.2", "ssh"
  std::string date;       // "2026-11-26 10:12 UTC"
  std::string version;
  bool processes_as_hosts = false;  // processes of one host stood for hosts
  Pattern pattern = Pattern::kTournament;
  bool isolate = false;
  bool is_sampled = false;  // not every pair of hosts has met
  std::uint32_t rounds_planned = 0, rounds_done = 0, retest_rounds = 0;
  std::uint64_t proof_bytes = 0;    // of one transfer
  std::uint64_t message_bytes = 0;  // of one write of the bandwidth
  double seconds = 0;
  bool is_interrupted = false;
  std::string topology;  // where leaves are known from: "topology.conf", "LLDP"; empty: not known
  std::vector<Host> hosts;
  std::vector<std::string> rails;  // their names on most hosts: "mlx5_0 with GPU 0"
  std::vector<Measurement> measurements;
  std::vector<Incident> incidents;
  std::vector<FleetRail> fleet;    // a rail each
  std::vector<std::string> notes;  // what else a reader should know, a sentence each
  std::vector<Finding> findings;   // the worst first
};

std::string_view name_of(Fault fault);      // "wrong bytes", "slow"
std::string_view name_of(Culprit culprit);  // "host", "leaf"
std::string_view name_of(Outcome outcome);
std::string_view name_of(HostState state);
std::string_view name_of(Pattern pattern);  // "tournament"

// Did it get as far as having devices, and was it let in with them? What others say of themselves
// counts nowhere.
bool took_part(const Host& host);

// As many as the host with most of them has, of those that took part.
std::size_t rail_count(const Report& report);

// A rail of the run is a stand-in: nothing was shown of hardware.
bool is_simulation(const Report& report);

// 0: every pair that was planned is proved, and nothing stands out. 1: there is a finding. 3: no
// finding, but the run is not whole: it was interrupted, or nothing was compared.
int exit_status(const Report& report);

}  // namespace gdr::fabric
