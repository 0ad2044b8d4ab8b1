// RFC 791 (IPv4 header checksum), RFC 768 (UDP), RFC 9293 section 3.1 (TCP), RFC 1071 (the sum).
#include "base/internet_checksum.h"
#include "rnic/flow.h"
#include "rnic/frame_view.h"

namespace gdr::rnic {
namespace {

// Where the transport's checksum lies in its header, and how many bytes it covers; nothing when
// the frame has none that could be computed here.
struct TransportSum {
  std::size_t field;
  std::size_t covered;
};

bool find_transport_sum(const FrameView& view, std::span<const std::uint8_t> frame,
                        TransportSum& found) {
  if (!view.is_whole || view.is_fragment) return false;
  const std::size_t bytes = view.transport_bytes();
  if (view.protocol == kProtocolTcp) {
    found = {16, bytes};
    return bytes >= 20;
  }
  if (bytes < 8) return false;
  const std::size_t length = load_be16(&frame[view.transport + 4]);
  found = {6, length};
  return length >= 8 && length <= bytes;
}

std::uint16_t transport_checksum(const FrameView& view, std::span<const std::uint8_t> frame,
                                 std::size_t covered) {
  const std::span<const std::byte> bytes = std::as_bytes(frame);
  const std::uint64_t pseudo_header =
      sum_words(bytes.subspan(view.ipv4 + 12, 8)) + view.protocol + covered;
  return internet_checksum(bytes.subspan(view.transport, covered), pseudo_header);
}

bool has_transport(const FrameView& view) {
  return view.protocol == kProtocolTcp || view.protocol == kProtocolUdp;
}

}  // namespace

bool checksums_right(std::span<const std::uint8_t> frame) {
  const FrameView view = FrameView::of(frame);
  // The flag speaks of IPv4: without it nothing was verified.
  if (!view.has_ipv4 || !view.is_whole) return false;
  const auto header = frame.subspan(view.ipv4, view.ipv4_header);
  if (internet_checksum(std::as_bytes(header)) != 0) return false;
  if (!has_transport(view)) return true;
  TransportSum sum{};
  if (!find_transport_sum(view, frame, sum)) return false;  // a fragment, or cut short
  const bool is_absent =
      view.protocol == kProtocolUdp && load_be16(&frame[view.transport + sum.field]) == 0;
  return is_absent || transport_checksum(view, frame, sum.covered) == 0;
}

void fill_checksums(std::span<std::uint8_t> frame) {
  const FrameView view = FrameView::of(frame);
  if (!view.has_ipv4) return;
  store_be16(&frame[view.ipv4 + 10], 0);
  const auto header = frame.subspan(view.ipv4, view.ipv4_header);
  store_be16(&frame[view.ipv4 + 10], internet_checksum(std::as_bytes(header)));

  TransportSum sum{};
  if (!has_transport(view) || !find_transport_sum(view, frame, sum)) return;
  std::uint8_t* field = &frame[view.transport + sum.field];
  store_be16(field, 0);
  std::uint16_t checksum = transport_checksum(view, frame, sum.covered);
  // RFC 768: zero says that there is no checksum.
  if (checksum == 0 && view.protocol == kProtocolUdp) checksum = 0xffff;
  store_be16(field, checksum);
}

}  // namespace gdr::rnic
