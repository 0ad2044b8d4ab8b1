#include "perf/limits/pcie_room.h"

#include <algorithm>
#include <limits>

namespace gdr::perf {
namespace {

constexpr std::size_t kMostLinks = 32;  // what the other side says may be anything

// Functions whose data has come together, on its way up.
struct Stream {
  std::vector<PcieWay> functions;
  PcieRoom room;
};

// A link has one port above it, whatever functions are below.
bool passes(const PcieWay& way, const PcieLink& link) {
  const auto links = way.pcie->links.begin();
  return std::any_of(links, links + static_cast<std::ptrdiff_t>(way.links),
                     [&](const PcieLink& own) { return own.above == link.above; });
}
bool passes(const Stream& stream, const PcieLink& link) {
  return std::ranges::any_of(stream.functions,
                             [&](const PcieWay& way) { return passes(way, link); });
}

struct Crossing {
  const PcieWay* way;
  std::size_t index;  // of the function's links
  const PcieLink& link() const { return way->pcie->links[index]; }
  std::size_t from_root() const { return way->pcie->links.size() - index; }
};

// Lowest first.
std::vector<Crossing> crossings_of(const std::vector<PcieWay>& functions) {
  std::vector<Crossing> all;
  for (const PcieWay& way : functions) {
    for (std::size_t i = 0; i < way.links; ++i) {
      const bool known = std::ranges::any_of(all, [&](const Crossing& other) {
        return other.link().above == way.pcie->links[i].above;
      });
      if (!known) all.push_back({&way, i});
    }
  }
  std::ranges::stable_sort(all, std::greater(), &Crossing::from_root);
  return all;
}

// They go through one link from here on.
Stream joined(std::vector<Stream>& streams, const PcieLink& link) {
  Stream together;
  std::size_t count = 0;
  std::erase_if(streams, [&](const Stream& stream) {
    if (!passes(stream, link)) return false;
    ++count;
    together.functions.insert(together.functions.end(), stream.functions.begin(),
                              stream.functions.end());
    together.room.rates.now += stream.room.rates.now;
    together.room.rates.most += stream.room.rates.most;
    if (count == 1) together.room.link = stream.room.link;
    if (count == 1) together.room.is_above = stream.room.is_above;
    return true;
  });
  if (count > 1) together.room.link = nullptr;
  if (count > 1) together.room.is_above = false;
  return together;
}

}  // namespace

PcieRoom pcie_room(
    const std::vector<PcieWay>& functions,
    const std::function<PcieRates(const Pcie& function, const PcieLink& link)>& rates) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  std::vector<PcieWay> ways = functions;
  std::vector<Stream> streams;
  for (PcieWay& way : ways) {
    way.links = std::min({way.links, way.pcie->links.size(), kMostLinks});
    streams.push_back({{way}, {{kUnbounded, kUnbounded}, nullptr, false}});
  }
  for (const Crossing& crossing : crossings_of(ways)) {
    const PcieRates room = rates(*crossing.way->pcie, crossing.link());
    if (room.now <= 0) continue;
    Stream stream = joined(streams, crossing.link());
    if (room.now < stream.room.rates.now)
      stream.room = {room, &crossing.link(), crossing.index > 0};
    streams.push_back(std::move(stream));
  }
  PcieRoom all;
  for (const Stream& stream : streams) {
    all.rates.now += stream.room.rates.now;
    all.rates.most += stream.room.rates.most;
  }
  if (streams.size() == 1) all.link = streams[0].room.link;
  if (streams.size() == 1) all.is_above = streams[0].room.is_above;
  return all.rates.now < kUnbounded ? all : PcieRoom{};
}

}  // namespace gdr::perf
