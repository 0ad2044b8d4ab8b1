#include <unistd.h>

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
constexpr std::uint32_t kGpuWrites = 512;  // each is a copy by the driver
constexpr double kMicro = 1e6;

// Seconds of one of `count` writes, each from one of the regions here into one there, by chance.
double write_randomly(Link& link, const std::vector<Slice>& here, const std::vector<Slice>& there,
                      std::uint32_t regions, std::uint32_t count) {
  std::mt19937 random(count + regions);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(count);
  for (auto& [from, to] : order) {
    from = random() % regions;
    to = random() % regions;
  }
  return median_of_parts(count, 1, [&](std::uint32_t i) {
    const Slice &from = here[order[i].first], &to = there[order[i].second];
    link.side().write(0, from.address, from.key, to.address, to.key);
    link.side().take_sent(0, 1);
  });
}

// Nanoseconds that the library's threads of both processes have taken, once they have nothing more
// to do: a process opens the other's GPU memory on a thread of its own.
std::int64_t settled_background(Link& link) {
  constexpr useconds_t kPause = 20'000;
  constexpr std::int64_t kNothing = 1'000'000;
  std::int64_t before = -kNothing;
  while (true) {
    const std::int64_t taken = facts().others_nanoseconds + link.facts_there().others_nanoseconds;
    if (taken - before < kNothing) return taken;
    before = taken;
    usleep(kPause);
  }
}

}  // namespace

void measure_registrations(const char* what, Counts counts, SliceMemory memory) {
  Link link(1);
  link.grow(1);
  SliceTable table(link.side().domain(), memory);
  Figures none(what, 0);
  none.add("own_bytes", static_cast<double>(facts().own_bytes()));
  none.print();
  std::uint32_t present = 0;
  for (const std::uint32_t count : counts) {
    Figures figures(what, count);
    const std::int64_t before = settled_background(link);
    table.grow(count);
    const std::vector<Slice> there = link.register_there(count, memory);
    const auto taken = static_cast<double>(settled_background(link) - before);
    figures.add("background_us", taken / 1e3 / (2 * (count - present)));
    present = count;
    figures.add("own_bytes", static_cast<double>(facts().own_bytes()));
    figures.add("register_us",
                kMicro * median_of(kProbes, [&](std::uint32_t) { return table.add(); }));
    figures.add("deregister_us",
                kMicro * median_of(kProbes, [&](std::uint32_t) { return table.remove_last(); }));
    const std::uint32_t writes = memory == SliceMemory::kGpu ? kGpuWrites : kWrites;
    write_randomly(link, table.slices(), there, count, writes);
    figures.add("write_us", kMicro * write_randomly(link, table.slices(), there, count, writes));
    figures.print();
  }
}

}  // namespace gdr::bench
