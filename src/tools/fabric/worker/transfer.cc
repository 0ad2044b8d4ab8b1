#include "fabric/worker/transfer.h"

namespace gdr::fabric::worker {
namespace {

constexpr std::uint32_t kSequenceMask = 0xffffff;

enum class Purpose : std::uint64_t { kData = 1, kStale, kSenderSequence, kReceiverSequence };

// The finalizer of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

std::uint64_t derive(const Transfer& transfer, Purpose purpose) {
  std::uint64_t hash = mix(transfer.run_seed);
  for (const std::uint64_t part :
       {std::uint64_t{transfer.round}, std::uint64_t{transfer.from}, std::uint64_t{transfer.to},
        std::uint64_t{transfer.from_rail}, std::uint64_t{transfer.to_rail},
        static_cast<std::uint64_t>(purpose)}) {
    hash = mix(hash + 0x9e3779b97f4a7c15ull + part);
  }
  return hash;
}

}  // namespace

std::uint64_t data_seed(const Transfer& transfer) { return derive(transfer, Purpose::kData); }
std::uint64_t stale_seed(const Transfer& transfer) { return derive(transfer, Purpose::kStale); }

PacketSequences packet_sequences(const Transfer& transfer) {
  return {static_cast<std::uint32_t>(derive(transfer, Purpose::kSenderSequence)) & kSequenceMask,
          static_cast<std::uint32_t>(derive(transfer, Purpose::kReceiverSequence)) & kSequenceMask};
}

}  // namespace gdr::fabric::worker
