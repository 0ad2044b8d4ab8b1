#include "rnic/receive_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "rnic/frame_view.h"

namespace gdr::rnic {
namespace {

// Both addresses and both ports of IPv6.
constexpr std::size_t kMostInput = 2 * 16 + 2 * 2;

class Input {
 public:
  void add(bool wanted, std::span<const std::uint8_t> bytes) {
    if (!wanted) return;
    std::copy(bytes.begin(), bytes.end(), bytes_ + size_);
    size_ += bytes.size();
  }
  std::span<const std::uint8_t> bytes() const { return {bytes_, size_}; }

 private:
  std::uint8_t bytes_[kMostInput];
  std::size_t size_ = 0;
};

}  // namespace

std::uint32_t toeplitz(std::span<const std::uint8_t, kHashKeyBytes> key,
                       std::span<const std::uint8_t> input) {
  std::uint32_t hash = 0;
  std::uint32_t window = load_be32(key.data());  // the 32 bits of the key that face the next bit
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::uint8_t next = i + 4 < key.size() ? key[i + 4] : 0;
    for (int bit = 7; bit >= 0; --bit) {
      if ((input[i] >> bit & 1) != 0) hash ^= window;
      window = window << 1 | (next >> bit & 1u);
    }
  }
  return hash;
}

std::uint32_t receive_hash(std::uint32_t fields, std::span<const std::uint8_t, kHashKeyBytes> key,
                           std::span<const std::uint8_t> frame) {
  const FrameView view = FrameView::of(frame);
  Input input;
  if (view.has_ipv4) {
    input.add((fields & IBV_RX_HASH_SRC_IPV4) != 0, frame.subspan(view.ipv4 + 12, 4));
    input.add((fields & IBV_RX_HASH_DST_IPV4) != 0, frame.subspan(view.ipv4 + 16, 4));
  } else if (view.has_ipv6) {
    input.add((fields & IBV_RX_HASH_SRC_IPV6) != 0, frame.subspan(view.ipv6 + 8, 16));
    input.add((fields & IBV_RX_HASH_DST_IPV6) != 0, frame.subspan(view.ipv6 + 24, 16));
  }
  if (view.has_ports) {
    const bool tcp = view.protocol == kProtocolTcp;
    const std::uint32_t source = tcp ? IBV_RX_HASH_SRC_PORT_TCP : IBV_RX_HASH_SRC_PORT_UDP;
    const std::uint32_t target = tcp ? IBV_RX_HASH_DST_PORT_TCP : IBV_RX_HASH_DST_PORT_UDP;
    input.add((fields & source) != 0, frame.subspan(view.transport, 2));
    input.add((fields & target) != 0, frame.subspan(view.transport + 2, 2));
  }
  return toeplitz(key, input.bytes());
}

Result<std::uint64_t> make_spread(Segment& segment, const SharedSpread& spread) {
  if (!std::has_single_bit(spread.size) || spread.size > kMaxSpread) {
    return Error{EINVAL, "an indirection table has 1 to 128 entries, a power of two"};
  }
  Result<std::uint64_t> place = segment.allocate(sizeof spread);
  if (!place) return place.error();
  std::memcpy(segment.arena(*place, sizeof spread), &spread, sizeof spread);
  return place;
}

std::optional<std::uint32_t> spread_to(Segment& segment, std::uint64_t spread,
                                       std::span<const std::uint8_t> frame) {
  const auto* shared =
      static_cast<const SharedSpread*>(segment.arena(spread, sizeof(SharedSpread)));
  if (shared == nullptr) return std::nullopt;
  const std::uint32_t size = read_once(shared->size);
  if (!std::has_single_bit(size) || size > kMaxSpread) return std::nullopt;
  std::uint8_t key[kHashKeyBytes];
  std::copy(std::begin(shared->key), std::end(shared->key), key);
  const std::uint32_t hash = receive_hash(read_once(shared->fields), key, frame);
  return read_once(shared->queue_pair[hash & (size - 1)]);
}

}  // namespace gdr::rnic
