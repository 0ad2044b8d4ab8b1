// One datagram there and back again, both sides polling.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "bare_measure.h"
#include "base/clock.h"

namespace gdr::bench {
namespace {

constexpr std::size_t kRoom = 65536;
constexpr std::uint64_t kWarmUp = 1000;

Error lost() { return Error{ETIMEDOUT, "a packet was lost"}; }

}  // namespace

Result<void> ask(const BarePair& pair) {
  const std::uint64_t count = pair.options().count;
  std::vector<std::byte> out(kPrefixBytes + pair.options().size + kCrcBytes);
  std::vector<std::byte> in(kRoom);
  const iovec piece{out.data(), out.size()};
  std::vector<Nanoseconds> took;
  took.reserve(count);
  std::uint32_t segment = 0;
  for (std::uint64_t i = 0; i < kWarmUp + count; ++i) {
    const Nanoseconds began = now();
    if (!pair.send(&piece, 1, 0)) return from_errno("sendmsg");
    if (pair.receive(in.data(), kRoom, &segment) < 0) return lost();
    if (i >= kWarmUp) took.push_back(now() - began);
  }
  const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  std::printf("%zu bytes, half a round trip: %.3f us\n", out.size(),
              static_cast<double>(*middle) / 2 / 1000);
  return {};
}

Result<void> answer(const BarePair& pair) {
  std::vector<std::byte> bytes(kRoom);
  std::uint32_t segment = 0;
  for (std::uint64_t i = 0; i < kWarmUp + pair.options().count; ++i) {
    const ssize_t got = pair.receive(bytes.data(), kRoom, &segment);
    if (got < 0) return lost();
    const iovec piece{bytes.data(), static_cast<std::size_t>(got)};
    if (!pair.send(&piece, 1, 0)) return from_errno("sendmsg");
  }
  return {};
}

}  // namespace gdr::bench
