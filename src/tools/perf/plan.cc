#include "perf/plan.h"

#include <algorithm>

#include "perf/rules.h"

namespace gdr::perf {
namespace {

// From a cache line up to sizes where bandwidth no longer grows.
const std::vector<std::uint64_t> kBandwidthSizes{4 << 10, 64 << 10, 1 << 20, 8 << 20};
const std::vector<std::uint64_t> kLatencySizes{8, 4 << 10, 64 << 10};
const std::vector<std::uint64_t> kRateSizes{8, 64};
constexpr std::uint64_t kAtomicBytes = 8;
constexpr std::uint64_t kLargestDatagram = 4 << 10;

std::vector<std::uint64_t> sizes_of(const Wishes& wishes, const Load& load) {
  if (!wishes.sizes.empty()) return wishes.sizes;
  if (is_atomic(load.operation)) return {kAtomicBytes};
  std::vector<std::uint64_t> sizes = load.measure == Measure::kBandwidth ? kBandwidthSizes
                                     : load.measure == Measure::kLatency ? kLatencySizes
                                                                         : kRateSizes;
  if (load.transport == Transport::kUd) {
    std::erase_if(sizes, [](std::uint64_t size) { return size > kLargestDatagram / 4; });
    if (sizes.empty()) sizes = {kLargestDatagram / 4};
  }
  return sizes;
}

Result<Place> resolved(Place place, const std::optional<int>& gpu, const char* side) {
  if (!place.names_gpu() || place.gpu != kChosenGpu) return place;
  if (!gpu)
    return Error{EINVAL, std::string("no GPU on the ") + side + "'s side; use --memory host"};
  place.gpu = *gpu;
  return place;
}

struct Ends {
  Place near, far;
};

// The default: GPU memory directly, GPU memory staged through host memory, and host memory.
std::vector<Ends> default_ends(const Available& available) {
  std::vector<Ends> ends;
  if (available.near_gpu && available.far_gpu) {
    for (auto kind : {Place::Kind::kGpu, Place::Kind::kStaged}) {
      ends.push_back({{kind, *available.near_gpu}, {kind, *available.far_gpu}});
    }
  }
  ends.push_back({});
  return ends;
}

Result<std::vector<Ends>> ends_of(const Wishes& wishes, const Available& available) {
  if (wishes.near.empty() && wishes.far.empty()) return default_ends(available);
  std::vector<Ends> all;
  const std::vector<Place> host{Place{}};
  for (const Place& near : wishes.near.empty() ? host : wishes.near) {
    const std::vector<Place> same{{near.kind, kChosenGpu}};
    for (const Place& far : wishes.far.empty() ? same : wishes.far) {
      Result<Place> one = resolved(near, available.near_gpu, "client");
      if (!one) return one.error();
      Result<Place> other = resolved(far, available.far_gpu, "server");
      if (!other) return other.error();
      all.push_back({*one, *other});
    }
  }
  return all;
}

const std::vector<Measure> kMeasures{Measure::kBandwidth, Measure::kLatency};

// A default load that is not possible here; it is left out silently.
bool is_by_default(const Wishes& wishes, const Load& load) {
  if (wishes.near.empty() && wishes.far.empty() && is_staged(load)) return true;
  return wishes.measures.empty() && load.measure != kMeasures.front();
}

Result<void> check_group(const Group& group) {
  for (const std::uint64_t size : group.sizes) {
    if (Result<void> right = check_load(group.load, size); !right) return right;
  }
  return {};
}

}  // namespace

Result<std::vector<Group>> make_plan(const Wishes& wishes, const Available& available) {
  if (Result<void> right = check_timing(wishes.timing); !right) return right.error();
  Result<std::vector<Ends>> ends = ends_of(wishes, available);
  if (!ends) return ends.error();
  std::vector<Group> groups;
  for (const Operation operation : wishes.operations) {
    for (const Measure measure : wishes.measures.empty() ? kMeasures : wishes.measures) {
      for (const Ends& end : *ends) {
        Group group{wishes.load, {}, wishes.timing};
        group.load.operation = operation;
        group.load.measure = measure;
        group.load.near = end.near;
        group.load.far = end.far;
        group.sizes = sizes_of(wishes, group.load);
        Result<void> right = check_group(group);
        if (!right && !is_by_default(wishes, group.load)) return right.error();
        if (right) groups.push_back(std::move(group));
      }
    }
  }
  return groups;
}

}  // namespace gdr::perf
