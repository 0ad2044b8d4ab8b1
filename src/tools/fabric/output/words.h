// Words that the text report, the live table and the page share.
//
//   const Headline head = headline_of(report, coverage);
//   fmt::print("{}: {}\n", head.word, head.detail);   // "FABRIC PROVED: 16 hosts, 4 rails, ..."
#pragma once

#include <string>
#include <vector>

#include "fabric/output/coverage.h"
#include "fabric/report.h"

namespace gdr::fabric {

enum class Verdict : std::uint8_t {
  kProved,       // on hardware, between hosts
  kOneHost,      // on hardware, with processes that stood for hosts
  kSimulated,    // passed, with stand-ins
  kNothing,      // no transfer was compared
  kInterrupted,  // no finding in what was done
  kFindings
};

struct Headline {
  Verdict verdict = Verdict::kNothing;
  std::string word;    // "FABRIC PROVED", "2 FINDINGS"
  std::string detail;  // "16 hosts, 4 rails, all 120 pairs of hosts, every byte compared"
  // What it does not mean, a sentence each: stand-ins took part, processes stood for hosts.
  std::vector<std::string> labels;
};
Headline headline_of(const Report& report, const Coverage& coverage);

// It was seen again, alone on the fabric. A host that is not there is confirmed without that.
bool was_retested(const Finding& finding);

// What the run leaves open, a sentence each.
std::vector<std::string> not_tested(const Report& report, const Coverage& coverage);

// Names of hosts in Slurm's notation; the first ones and a count where even that takes many lines.
std::string host_names(const std::vector<std::string>& names);

// Hosts that were lost for the same reason.
struct LostHosts {
  HostState state = HostState::kDied;
  std::string problem;
  std::vector<std::string> names;
};
// Those of most hosts first.
std::vector<LostHosts> lost_hosts(const Report& report);

// "24 s", "1 min 40 s", "2 h 5 min"
std::string duration_text(double seconds);
// "1,048,576"
std::string grouped(std::uint64_t number);

}  // namespace gdr::fabric
