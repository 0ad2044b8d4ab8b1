// What leaves together, as the other side's kernel takes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "link.h"
#include "raw_peer.h"
#include "side.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 48 << 10;

// The kernel numbers the packets of a burst from 0 on, and the ICRC covers that number. A receiver
// of ours would solve for another one; hardware drops the packet.
TEST(Burst, EachPacketHasTheIcrcOfItsPlace) {
  const auto link = Link::make({.kind = LinkKind::kLoopback});
  ASSERT_TRUE(link) << link.error().message;
  RawPeer peer((*link)->address(1), (*link)->address(0));
  Child sender([&](Wire& wire) {
    (*link)->enter(0);
    Side side;
    Memory& memory = side.memory(kBytes);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    side.connect(qp, raw_endpoint((*link)->address(1)));
    side.write(qp, memory, 0, kBytes, {0x10000, kBytes, 7});
    (void)wire.receive<char>();
  });
  const wire::Flow flow{mapped((*link)->address(0)), mapped((*link)->address(1)), wire::kRocePort,
                        wire::kRocePort};
  std::size_t longest = 0, bytes = 0;
  while (bytes < kBytes) {
    const std::vector<Bytes> packets = peer.receive_burst(kLastResortMs);
    ASSERT_FALSE(packets.empty()) << "after " << bytes << " bytes";
    longest = std::max(longest, packets.size());
    for (std::uint16_t place = 0; place < packets.size(); ++place) {
      const std::span<const std::byte> packet(packets[place]);
      const auto covered = packet.first(packet.size() - wire::kIcrcBytes);
      std::uint32_t stored;
      std::memcpy(&stored, packet.data() + covered.size(), sizeof stored);
      EXPECT_EQ(stored, wire::icrc_of(flow, place, covered)) << "packet " << place;
      bytes += covered.size() - wire::kBthBytes;
    }
  }
  EXPECT_GT(longest, 2u);
  sender.wire().send('.');
  sender.finish();
}

}  // namespace
}  // namespace gdr::test
