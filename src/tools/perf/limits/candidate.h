// Between limits and advice: a limit with what the advice needs to know about it.
#pragma once

#include <optional>
#include <vector>

#include "host/grade.h"
#include "perf/limits/facts.h"
#include "perf/limits/pcie.h"
#include "perf/load.h"
#include "perf/report.h"

namespace gdr::perf {

struct Candidate {
  enum class Kind : std::uint8_t { kLink, kNicPcie, kGpuPcie, kCopy, kComparison };
  Kind kind = Kind::kLink;
  Limit limit;
  double most = 0;  // bytes a second if links ran as fast as their ends can
  const Facts* side = nullptr;
  const GpuFacts* gpu = nullptr;  // of kGpuPcie
  // For kNicPcie and kGpuPcie: the narrowest link that everything passes; null: each port its own.
  const PcieLink* link = nullptr;
  bool is_source = false;  // the NIC reads memory on this side
};

// Both sides of a row, and what of its load tells them apart.
struct RowFacts {
  const Load& load;
  const Facts& near;
  const Facts& far;

  bool one_host() const { return !near.machine.empty() && near.machine == far.machine; }
  // A port of one side is the same one as the other side's that it talks to.
  bool has_loop() const;
  // Both sides have the same NICs.
  bool same_nics() const;
  bool is_software(const Facts& side) const;
  bool is_software() const { return is_software(near) || is_software(far); }
  // " on node2": nothing where both sides are on one host.
  std::string on(const Facts& side) const { return one_host() ? "" : " on " + side.host; }
  const Place& place(const Facts& side) const { return &side == &near ? load.near : load.far; }
  bool is_source(const Facts& side) const {
    return load.both_ways || (&side == &near) != (load.operation == Operation::kRead);
  }
  bool is_target(const Facts& side) const {
    return load.both_ways || (&side == &far) != (load.operation == Operation::kRead);
  }
  // The GPU whose memory is on that side; null: none, or nothing is known of it.
  const GpuFacts* gpu(const Facts& side) const;
};

// Between a NIC and a GPU that it reaches itself. Nothing where it is not known.
std::optional<host::PciPath> path_of(const NicFacts& nic, const GpuFacts& gpu);

// Gives each candidate at most one sentence. They are in order, nearest first.
void add_advice(const RowFacts& row, double reached, std::vector<Candidate>& candidates);

}  // namespace gdr::perf
