#include "perf/shares.h"

#include "perf/contents.h"

namespace gdr::perf {
namespace {

// A request in its queue and its completion take 64 bytes each in the drivers of most NICs.
constexpr std::uint64_t kQueued = 128;
constexpr std::uint64_t kReceive = sizeof(ibv_sge) + sizeof(std::uint64_t);  // as in Receives

std::uint64_t host_memory_of(const StationPlan& share) {
  const Layout layout = share.layout();
  const std::uint64_t messages = share.place.is_direct() ? 0 : layout.bytes();
  const std::uint64_t sends = std::uint64_t{requests_queued(share.load)} * layout.queue_pairs;
  const std::uint64_t queues = has_shared_queue(share.load) ? 1 : layout.queue_pairs;
  const std::uint64_t receives = std::uint64_t{receives_of(share.load, layout)} * queues;
  return messages + sends * kQueued + receives * (kQueued + kReceive);
}

}  // namespace

std::vector<StationPlan> shares_of(const StationPlan& whole, bool is_client) {
  std::vector<StationPlan> shares(whole.load.threads, whole);
  for (std::uint32_t i = 0; i < whole.load.threads; ++i) {
    shares[i].queue_pairs = queue_pairs_of(whole.load, i);
    shares[i].is_client = is_client;
  }
  return shares;
}

std::uint64_t host_memory_of(std::span<const StationPlan> shares) {
  std::uint64_t bytes = 0;
  for (const StationPlan& share : shares) bytes += host_memory_of(share) + Contents::most_of(share);
  // A server's windows are filled and compared by its control thread, too.
  if (!shares.front().is_client) bytes += Contents::most_of(shares.front());
  return bytes;
}

}  // namespace gdr::perf
