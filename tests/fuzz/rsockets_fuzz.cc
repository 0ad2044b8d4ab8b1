// What peers of rsockets send and write: private data, immediates, the lists that they write at any
// time, headers of datagrams. Whatever is taken reads back as itself; nothing leaves the buffers.
#include <algorithm>
#include <vector>

#include "input.h"
#include "rsockets/credits.h"
#include "rsockets/datagram_protocol.h"
#include "rsockets/protocol.h"
#include "rsockets/receive_ring.h"
#include "rsockets/target_list.h"

namespace {

using gdr::test::Input;
using gdr::test::require;

using namespace gdr::rsockets;

void read_headers(std::span<const std::uint8_t> bytes) {
  std::size_t size = 0;
  if (const auto announced = decode_announcement(bytes, size)) {
    require(size <= bytes.size() && announced->queue_pair < (1U << 24));
    const Header again = encode(*announced);
    std::size_t same = 0;
    const auto back = decode_announcement(again.bytes(), same);
    require(back && back->address == announced->address &&
            back->queue_pair == announced->queue_pair);
  }
  if (const auto sender = decode_sender(bytes, size)) {
    require(size <= bytes.size());
    const Header again = encode(*sender);
    std::size_t same = 0;
    require(decode_sender(again.bytes(), same) == sender);
  }
  if (const auto data = decode_connection_data(bytes)) {
    require(data->targets.length != 0);
    const auto again = encode(*data);
    require(decode_connection_data(again).has_value());
  }
}

// A stream's receiving side, with what a peer's messages and lists make of it.
class Stream {
 public:
  void act(Input& input) {
    switch (input.byte() % 5) {
      case 0:
        alive_ = alive_ && ring_.arrived(input.number());
        break;
      case 1: {
        std::vector<std::uint8_t> to(input.byte());
        const std::size_t before = ring_.readable();
        require(ring_.peek(to) == std::min(to.size(), before));
        require(ring_.read(to) == std::min(to.size(), before));
        if (ring_.half_is_free()) require(ring_.grant_half() <= kBytes / 2);
        break;
      }
      case 2: {
        const auto written = input.bytes<std::uint8_t>(input.byte());
        const std::size_t at = input.byte() % lists_.size();
        const std::size_t count = std::min(written.size(), lists_.size() - at);
        std::copy_n(written.begin(), count, lists_.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      case 3:
        if (const std::uint32_t room = targets_.room(); room > 0) {
          const std::uint32_t taken = std::min<std::uint32_t>(room, 1 + input.number());
          require(targets_.take(taken).length == taken);
        }
        targets_.mapped_at(input.number());
        break;
      default:
        if (credits_.grant(static_cast<std::uint16_t>(input.number()))) {
          require(credits_.left() <= kQueue);
          if (credits_.left() > 0) credits_.spend();
        }
    }
    require(ring_.readable() <= kBytes);
  }

 private:
  static constexpr std::size_t kBytes = 64;
  static constexpr std::uint16_t kQueue = 16;

  bool alive_ = true;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(kBytes);
  std::vector<std::uint8_t> lists_ =
      std::vector<std::uint8_t>(TargetList::kBytes + 2 * kMappingBytes);
  ReceiveRing ring_{buffer_, kQueue};
  TargetList targets_{lists_};
  SendCredits credits_{kQueue};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_headers({data, size});
  Input input(data, size);
  Stream stream;
  while (!input.empty()) stream.act(input);
  return 0;
}
