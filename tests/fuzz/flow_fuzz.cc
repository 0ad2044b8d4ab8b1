// A flow attribute and a frame of any bytes: nothing is read outside either, a rule takes only what
// the device's port takes, and checksums once filled in stay as they are.
//
// Input: a byte of how many bytes the attribute has, the attribute, then the frame.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "input.h"
#include "rnic/flow.h"

namespace {

using gdr::test::require;

constexpr std::uint8_t kMac[6] = {0x02, 0x67, 0x64, 0x72, 0, 0};

// In an allocation of just its size, so that the address sanitizer sees a byte too far. `size` is
// the caller's own word for how many bytes there are; where it is the header's, the specs' own
// sizes count, and what follows the input is zeros.
gdr::Result<gdr::rnic::FlowMatch> match_of(std::span<const std::uint8_t> bytes) {
  const std::size_t size = std::max(bytes.size(), sizeof(ibv_flow_attr));
  constexpr std::size_t kSizeAt = offsetof(ibv_flow_attr, size);
  std::uint16_t claimed = 0;
  if (bytes.size() >= kSizeAt + sizeof claimed) {
    std::memcpy(&claimed, bytes.data() + kSizeAt, sizeof claimed);
  }
  constexpr std::size_t kLargestSpecs = 256;
  const bool unsaid = std::min<std::size_t>(claimed, size) <= sizeof(ibv_flow_attr);
  std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[size + (unsaid ? kLargestSpecs : 0)]());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  claimed = std::min(claimed, static_cast<std::uint16_t>(size));
  std::memcpy(copy.get() + kSizeAt, &claimed, sizeof claimed);
  return gdr::rnic::flow_match(*reinterpret_cast<const ibv_flow_attr*>(copy.get()));
}

void check_match(const gdr::rnic::FlowMatch& match, std::span<const std::uint8_t> frame) {
  if (!gdr::rnic::matches(match, kMac, frame) || match.everything != 0) return;
  require(frame.size() >= 14);
  require((frame[0] & 1) != 0 || std::equal(kMac, kMac + 6, frame.begin()));
}

void check_checksums(std::vector<std::uint8_t> frame) {
  const bool was_right = gdr::rnic::checksums_right(frame);
  gdr::rnic::fill_checksums(frame);
  require(!was_right || gdr::rnic::checksums_right(frame));
  const std::vector<std::uint8_t> once = frame;
  gdr::rnic::fill_checksums(frame);
  require(frame == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> input(data + 1, size - 1);
  const std::size_t attribute_bytes = std::min<std::size_t>(data[0], input.size());
  std::vector<std::uint8_t> frame(input.begin() + static_cast<long>(attribute_bytes), input.end());
  frame.shrink_to_fit();

  const auto match = match_of(input.first(attribute_bytes));
  if (match) {
    check_match(*match, frame);
  } else {
    require(match.error().code == EINVAL || match.error().code == EOPNOTSUPP);
    require(match.error().message.find('\n') == std::string::npos);
  }
  // And as the shared segment may hold it, where another process may have written anything.
  gdr::rnic::FlowMatch raw{};
  std::memcpy(&raw, data, std::min(size, sizeof raw));
  check_match(raw, frame);
  check_checksums(std::move(frame));
  return 0;
}
