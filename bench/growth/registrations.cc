#include <algorithm>
#include <random>

#include "curves.h"
#include "figures.h"
#include "link.h"
#include "slices.h"

namespace gdr::bench {
namespace {

constexpr std::uint32_t kProbes = 64;  // registrations that come and go at each count
constexpr std::uint32_t kWrites = 4096;
constexpr double kMicro = 1e6;

// Seconds of one of `count` writes, each from one of the regions here into one there, by chance.
double write_randomly(Link& link, const Slices& here, const Slices& there, std::uint32_t regions,
                      std::uint32_t count) {
  std::mt19937 random(count + regions);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(count);
  for (auto& [from, to] : order) {
    from = random() % regions;
    to = random() % regions;
  }
  return median_of_parts(count, 1, [&](std::uint32_t i) {
    const auto [from, to] = order[i];
    link.side().write(0, here.address + from * kSliceBytes, here.keys[from],
                      there.address + to * kSliceBytes, there.keys[to]);
    link.side().take_sent(0, 1);
  });
}

}  // namespace

void measure_registrations(Counts counts) {
  Link link(1);
  link.grow(1);
  SliceTable table(link.side().domain());
  Figures none("registrations", 0);
  none.add("own_bytes", static_cast<double>(facts().own_bytes()));
  none.print();
  for (const std::uint32_t count : counts) {
    Figures figures("registrations", count);
    table.grow(count);
    figures.add("own_bytes", static_cast<double>(facts().own_bytes()));
    figures.add("register_us",
                kMicro * median_seconds(kProbes, [&](std::uint32_t) { table.add(); }));
    figures.add("deregister_us",
                kMicro * median_seconds(kProbes, [&](std::uint32_t) { table.remove_last(); }));
    const Slices there = link.register_there(count);
    write_randomly(link, table.slices(), there, count, kWrites);
    figures.add("write_us", kMicro * write_randomly(link, table.slices(), there, count, kWrites));
    figures.print();
  }
}

}  // namespace gdr::bench
