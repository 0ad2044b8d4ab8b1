// View: the measurements of a run as ratios to what is usual for their kind, so that all rails,
// speeds of links and distances can be judged together. 1 is as fast as the fleet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/report.h"

namespace gdr::fabric {

constexpr std::uint32_t kNoLeaf = UINT32_MAX;

class View {
 public:
  explicit View(const Report& report);

  const Report& report() const { return report_; }
  std::uint32_t rails() const { return rails_; }
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(report_.hosts.size()); }

  // A cell is a rail of a host.
  std::uint32_t cells() const { return hosts() * rails_; }
  std::uint32_t cell(HostIndex host, std::uint32_t rail) const { return host * rails_ + rail; }
  std::uint32_t sender(const Measurement& m) const { return cell(m.from, m.rail); }
  std::uint32_t receiver(const Measurement& m) const { return cell(m.to, m.far_rail); }
  HostIndex host_of(std::uint32_t cell) const { return cell / rails_; }
  std::uint32_t rail_of(std::uint32_t cell) const { return cell % rails_; }

  // Both ends are hosts and rails of the run.
  bool is_sound(const Measurement& m) const;
  // Belongs to the statistics: no retest, rails not crossed.
  bool counts(const Measurement& m) const;

  std::size_t leaves() const { return leaf_names_.size(); }
  std::uint32_t leaf(std::uint32_t cell) const { return leaf_[cell]; }
  // Fit to be shown.
  const std::string& leaf_name(std::uint32_t leaf) const { return leaf_names_[leaf]; }
  // Between two leaves. Where leaves are not known, nothing is.
  bool crosses_leaves(const Measurement& m) const;

  // Of each measurement; 0: not measured. For latency, above 1 is slow.
  const std::vector<float>& bandwidths() const { return bandwidth_.of; }
  const std::vector<float>& latencies() const { return latency_.of; }
  // The same, but where a pair was measured several times, the median of these.
  const std::vector<float>& settled_bandwidths() const { return bandwidth_.settled; }
  const std::vector<float>& settled_latencies() const { return latency_.settled; }

  // What a host's median over this rail usually is: bytes a second, nanoseconds; 0: not measured.
  double usual_bandwidth(std::uint32_t rail) const { return bandwidth_.usual[rail]; }
  double usual_latency(std::uint32_t rail) const { return latency_.usual[rail]; }

  // What most rails of this number have; 0: not known.
  double usual_link(std::uint32_t rail) const { return usual_link_[rail]; }

 private:
  void name_leaves();
  void find_links();
  std::uint32_t kind_of(const Measurement& m) const;
  struct Ratios {
    std::vector<float> of, settled;  // a measurement each
    std::vector<double> usual;       // a rail each
  };
  double usual_of(const std::vector<std::uint32_t>& indexes, bool by_leaf,
                  const std::vector<float>& of_each, bool higher_is_better) const;
  void settle(bool higher_is_better, std::vector<float>* values) const;
  Ratios ratios(float Measurement::*value, bool higher_is_better) const;

  const Report& report_;
  std::uint32_t rails_ = 1;
  std::vector<std::uint32_t> leaf_;
  std::vector<std::string> leaf_names_;
  std::vector<double> links_;  // all that there are, sorted
  std::vector<double> usual_link_;
  Ratios bandwidth_, latency_;
};

}  // namespace gdr::fabric
