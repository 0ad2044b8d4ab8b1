// What each cell (a rail of a host) sent and received, as medians of ratios.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/judge/view.h"

namespace gdr::fabric {

// Fewer values tell nothing of a cell: one of two may be its partner's fault.
constexpr std::size_t kLeastValues = 3;

// What was slow must be slower by this share, however little the fleet scatters: firmware, cables
// of other lengths and PCIe slots make differences of a few percent that nobody will repair.
constexpr double kLeastSlowdown = 0.05;
// Latency scatters more, and interrupts and power states add to it.
constexpr double kLeastDelay = 0.30;
constexpr double kDeviations = 6;

// Below this, something is slow. Down from the centre by factors, which for a small deviation is
// the same as by differences: where a fleet scatters as much as its centre, differences would call
// nothing slow.
double slow_below(double centre, double deviation);
// Above this, a latency is high; by factors as well.
double late_above(double centre, double deviation);

// Ratios of each cell, one array for all. `select` says which measurements take part.
class CellValues {
 public:
  enum class Side : std::uint8_t { kSent, kReceived, kBoth };
  using Select = std::function<bool(const Measurement&, std::size_t index)>;

  CellValues(const View& view, Side side, const std::vector<float>& ratios, const Select& select);

  std::size_t count(std::uint32_t cell) const { return first_[cell + 1] - first_[cell]; }
  // 0 where there are fewer than `least`.
  double median(std::uint32_t cell, bool higher_is_better, std::size_t least = kLeastValues) const;

 private:
  std::vector<std::uint32_t> first_;  // of each cell in values_, and one behind the last
  std::vector<float> values_;
};

// Medians of all cells, and from where on they stand out.
struct Medians {
  std::vector<double> of;  // a cell each; 0: not known
  double centre = 0;       // of all cells
  double slow_below = 0;   // for bandwidth
  double late_above = 0;   // for latency
  double share(std::uint32_t cell) const { return centre > 0 ? of[cell] / centre : 0; }
  bool is_slow(std::uint32_t cell) const { return of[cell] > 0 && of[cell] < slow_below; }
  bool is_late(std::uint32_t cell) const { return of[cell] > late_above; }
};

// `scatter`: the deviation of single measurements. Cells of a small fleet may agree by chance, so
// what single measurements scatter counts, too.
Medians medians_of(const View& view, const CellValues& values, bool higher_is_better,
                   double scatter);

// How far single measurements are from what both of their ends reach, which `medians` says.
double scatter_of(const View& view, const std::vector<float>& ratios, const Medians& medians,
                  bool higher_is_better);

}  // namespace gdr::fabric
