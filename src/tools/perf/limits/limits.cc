#include "perf/limits/limits.h"

#include <algorithm>
#include <cmath>

#include "perf/limits/candidate.h"
#include "perf/limits/pcie_room.h"

namespace gdr::perf {
namespace {

using Kind = Candidate::Kind;

// A GPU without work runs its link slower, and speeds it up as soon as there is some: what it runs
// at when it is asked says nothing. Its width stays.
double speed_now(const PcieLink& link, bool is_gpu) {
  return is_gpu && link.most_speed > 0 ? link.most_speed : link.speed;
}

PcieRates rates_of(const PcieLink& link, bool is_gpu, std::uint32_t payload, PcieTraffic traffic) {
  const double now = pcie_bytes_per_second(speed_now(link, is_gpu), link.width, payload, traffic);
  const double most = pcie_bytes_per_second(link.most_speed, link.most_width, payload, traffic);
  return {now, std::max(now, most)};
}

// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

// How many of the function's links lie on the way to `other`, which meets it below a host bridge;
// all of them where it does not.
std::size_t links_to(const Pcie& pcie, const Pcie* other) {
  if (!other) return pcie.links.size();
  std::size_t common = 0;
  while (common < pcie.path.size() && common < other->path.size() &&
         pcie.path[common] == other->path[common]) {
    ++common;
  }
  if (common < 2) return pcie.links.size();
  std::size_t used = 0;
  for (const PcieLink& link : pcie.links) {
    const auto above = std::ranges::find(pcie.path, link.above);
    if (above - pcie.path.begin() >= static_cast<std::ptrdiff_t>(common)) ++used;
  }
  return std::max<std::size_t>(used, 1);
}

// What a side reaches memory by: a GPU, or the NICs of all its ports.
struct Device {
  Kind kind;
  std::string name;
  std::vector<PcieWay> functions;
  bool on_both_sides;
  bool reads, writes;  // memory of which it is the initiator
};

class Collector {
 public:
  explicit Collector(const RowFacts& row) : row_(row) {}

  std::vector<Candidate> collect() {
    for (const Facts* side : {&row_.near, &row_.far}) {
      add_link(*side);
      add_nics(*side);
      add_gpu(*side);
      add_copies(*side);
    }
    return std::move(found_);
  }

 private:
  const GpuFacts* direct_gpu(const Facts& side) const {
    const GpuFacts* gpu = row_.gpu(side);
    return gpu && row_.place(side).is_direct() && !gpu->software ? gpu : nullptr;
  }

  void add(Candidate candidate) {
    if (!std::isfinite(candidate.limit.value) || candidate.limit.value <= 0) return;
    const auto known = std::ranges::find_if(
        found_, [&](const Candidate& other) { return other.limit.what == candidate.limit.what; });
    if (known == found_.end()) found_.push_back(std::move(candidate));
  }

  // What loops inside one port does not pass its link.
  void add_link(const Facts& side) {
    if (row_.is_software(side) || row_.has_loop()) return;
    Candidate candidate;
    candidate.kind = Kind::kLink;
    candidate.side = &side;
    std::vector<std::string> names;
    bool is_known = true;
    for (const NicFacts& nic : side.nics) {
      names.push_back(nic.name + " port " + std::to_string(nic.port));
      candidate.limit.value += nic.link_bits_per_second / 8 * (row_.load.both_ways ? 2 : 1);
      is_known &= nic.link_bits_per_second > 0;
    }
    if (!is_known) return;
    candidate.limit.what =
        (names.size() == 1 ? "link of " : "links of ") + listed(names) + row_.on(side);
    candidate.most = candidate.limit.value;
    add(candidate);
  }

  void add_nics(const Facts& side) {
    if (row_.is_software(side)) return;
    const GpuFacts* gpu = direct_gpu(side);
    Device device{
        Kind::kNicPcie,      "", {}, row_.one_host() && row_.same_nics(), row_.is_source(side),
        row_.is_target(side)};
    std::vector<std::string> names;
    for (const NicFacts& nic : side.nics) {
      device.functions.push_back({&nic.pcie, links_to(nic.pcie, gpu ? &gpu->pcie : nullptr)});
      const bool again = std::ranges::find(names, nic.name) != names.end();
      if (!again) names.push_back(nic.name);
    }
    device.name = listed(names);
    add_pcie(side, nullptr, device);
  }

  void add_gpu(const Facts& side) {
    const GpuFacts* gpu = row_.gpu(side);
    if (!gpu || gpu->software) return;
    const bool staged = !row_.place(side).is_direct();
    // A software NIC has GPUs copy to each other, which does not pass the host.
    const bool copied =
        row_.is_software() && row_.one_host() && direct_gpu(row_.near) && direct_gpu(row_.far);
    if (copied) return;
    const GpuFacts* other = row_.gpu(&side == &row_.near ? row_.far : row_.near);
    const bool both = row_.one_host() && other && other->ordinal == gpu->ordinal;
    // Links that all of it passes: to the nearest of the NICs.
    std::size_t used = gpu->pcie.links.size();
    for (const NicFacts& nic : side.nics) {
      if (!staged && !nic.software) used = std::min(used, links_to(gpu->pcie, &nic.pcie));
    }
    // A copy by the GPU itself has it write what leaves it.
    const bool source = row_.is_source(side), target = row_.is_target(side);
    add_pcie(side, gpu,
             {Kind::kGpuPcie,
              "GPU " + std::to_string(gpu->ordinal),
              {{&gpu->pcie, used}},
              both,
              staged ? target : source,
              staged ? source : target});
  }

  // A device on both sides has each direction of its link used by what it sends and by what it
  // receives, so both ways together are no more than one.
  void add_pcie(const Facts& side, const GpuFacts* gpu, const Device& device) {
    const PcieRoom room = pcie_room(device.functions, [&](const Pcie& pcie, const PcieLink& link) {
      const auto rates = [&](PcieTraffic traffic) {
        return rates_of(link, gpu != nullptr, pcie.max_payload, traffic);
      };
      const PcieRates read = rates(PcieTraffic::kReads), write = rates(PcieTraffic::kWrites);
      if (device.on_both_sides || !device.reads) return write;
      if (!device.writes) return read;
      return PcieRates{read.now + write.now, read.most + write.most};
    });
    Candidate candidate;
    candidate.kind = device.kind;
    candidate.side = &side;
    candidate.gpu = gpu;
    candidate.is_source = device.reads;
    candidate.link = room.link;
    candidate.limit.value = room.rates.now;
    candidate.most = room.rates.most;
    candidate.limit.what =
        (room.is_above ? "PCIe above " : "PCIe of ") + device.name + row_.on(side);
    if (room.link) {
      candidate.limit.what += " (" +
                              pcie_text(speed_now(*room.link, gpu != nullptr), room.link->width) +
                              (room.is_above ? " at " + room.link->above : "") + ")";
    }
    add(candidate);
  }

  // The processor moves the data: all of it with software NICs, between host and GPU with staged.
  void add_copies(const Facts& side) {
    const Place& place = row_.place(side);
    const GpuFacts* gpu = row_.gpu(side);
    const bool in_gpu = place.is_direct() && gpu && !gpu->software;
    const bool by_processor = row_.is_software(side) || place.kind == Place::Kind::kStaged;
    if (in_gpu) return;
    const std::uint32_t threads = std::max(1u, row_.load.threads) * (row_.load.both_ways ? 2 : 1);
    Candidate candidate;
    candidate.kind = by_processor ? Kind::kCopy : Kind::kComparison;
    candidate.side = &side;
    const double times = by_processor ? threads : 1;
    const std::string memcpy_text =
        (times == 1 ? "single" : std::to_string(threads)) + "-thread memcpy";
    candidate.limit.what =
        memcpy_text + row_.on(side) + (by_processor ? "" : ", for comparison only");
    candidate.limit.value = candidate.most = side.memory_copy * times;
    add(candidate);
    if (!by_processor) return;
    candidate.limit.what =
        memcpy_text + " of " + std::to_string(row_.load.size) + " B in cache" + row_.on(side);
    candidate.limit.value = candidate.most = side.message_copy * times;
    add(candidate);
  }

  const RowFacts& row_;
  std::vector<Candidate> found_;
};

// 0: a limit that holds, 1: exceeded, 2: for comparison.
int rank(const Candidate& candidate) {
  if (candidate.kind == Kind::kComparison) return 2;
  return candidate.limit.share > 1 ? 1 : 0;
}

}  // namespace

bool RowFacts::has_loop() const {
  if (!one_host()) return false;
  for (std::size_t i = 0; i < near.nics.size() && i < far.nics.size(); ++i) {
    if (near.nics[i].name == far.nics[i].name && near.nics[i].port == far.nics[i].port) return true;
  }
  return false;
}

bool RowFacts::same_nics() const {
  return std::ranges::equal(near.nics, far.nics, {}, &NicFacts::name, &NicFacts::name);
}

bool RowFacts::is_software(const Facts& side) const {
  return std::ranges::any_of(side.nics, &NicFacts::software);
}

const GpuFacts* RowFacts::gpu(const Facts& side) const {
  const Place& wanted = place(side);
  if (!wanted.is_gpu()) return nullptr;
  const auto found = std::ranges::find_if(
      side.gpus, [&](const GpuFacts& gpu) { return gpu.ordinal == wanted.gpu; });
  return found == side.gpus.end() ? nullptr : &*found;
}

std::vector<Limit> limits_of(const Load& load, const Facts& near, const Facts& far,
                             double reached) {
  std::vector<Limit> limits;
  if (load.measure == Measure::kLatency || !std::isfinite(reached) || reached <= 0) return limits;
  // Sides are told apart by their addresses, and a loopback may give one of them twice.
  const Facts other = far;
  const RowFacts row{load, near, other};
  std::vector<Candidate> candidates = Collector(row).collect();
  for (Candidate& candidate : candidates) candidate.limit.share = reached / candidate.limit.value;
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.limit.share > b.limit.share;
  });
  add_advice(row, reached, candidates);
  for (Candidate& candidate : candidates) limits.push_back(std::move(candidate.limit));
  return limits;
}

}  // namespace gdr::perf
