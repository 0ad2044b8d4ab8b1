// Management datagrams: whose they are, what refuses them, and how many wait.
#include "net/mad.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/unique_fd.h"
#include "net/mad_floods.h"
#include "net/mad_inbox.h"
#include "net/port_filter.h"
#include "net/socket_address.h"
#include "packets.h"

namespace gdr::net {
namespace {

// As the kernel's rdma_cm sent them (Linux 6.1, rxe): rping's REQ, the REJ of one that nobody
// listens for, and its SIDR_REQ; with the bytes that are not 0.
Mad kernel_mad(std::uint16_t attribute, std::uint32_t first, std::uint32_t second,
               std::uint64_t service) {
  Mad mad;
  store_be32(&mad.bytes[0], 0x01070203);
  store_be64(&mad.bytes[8], 0x0000'0002'a660'2b05);
  store_be16(&mad.bytes[16], attribute);
  store_be32(&mad.bytes[24], first);
  store_be32(&mad.bytes[28], second);
  store_be64(&mad.bytes[32], service);
  return mad;
}

TEST(MadRoute, OfRequestsIsTheirServiceId) {
  for (const std::uint16_t attribute : {0x10, 0x17}) {
    const auto route = route_of(kernel_mad(attribute, 0x052b60a6, 0, 0x0106'1c06));
    ASSERT_TRUE(route);
    EXPECT_TRUE(route->is_request);
    EXPECT_EQ(route->number, 0x0106'1c06u);
  }
}

TEST(MadRoute, OfAnswersIsTheIdThatTheyAnswerTo) {
  for (std::uint16_t attribute = 0x11; attribute <= 0x1a; ++attribute) {
    if (attribute == 0x17) continue;
    const auto route = route_of(kernel_mad(attribute, 0x11111111, 0x22222222, 0));
    ASSERT_TRUE(route) << attribute;
    EXPECT_FALSE(route->is_request);
    EXPECT_EQ(route->number, attribute == 0x18 ? 0x11111111u : 0x22222222u) << attribute;
  }
}

TEST(MadRoute, IsNoneForAnythingButConnectionManagement) {
  const Mad right = kernel_mad(0x10, 1, 0, 1);
  for (const std::size_t at : {0, 1, 2, 3}) {
    for (int bit = 0; bit < 8; ++bit) {
      Mad wrong = right;
      wrong.bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(route_of(wrong)) << at << " " << bit;
    }
  }
  for (const std::uint16_t attribute : {0x00, 0x01, 0x0f, 0x1b, 0x1010, 0xffff}) {
    EXPECT_FALSE(route_of(kernel_mad(attribute, 1, 1, 1))) << attribute;
  }
}

// Byte for byte what the kernel answers to a REQ of that id and transaction.
TEST(MadRefusal, OfARequestIsTheKernels) {
  Mad request = kernel_mad(0x10, 0x052b60a6, 0, 0x0106'1c06);
  request.source = ipv4(10, 8, 0, 1);
  request.destination = ipv4(10, 8, 0, 2);
  Mad expected = kernel_mad(0x12, 0, 0x052b60a6, 0);
  store_be32(&expected.bytes[32], 0x0000'0008);
  const Mad refusal = make_refusal(request);
  EXPECT_EQ(refusal.bytes, expected.bytes);
  EXPECT_EQ(refusal.source, request.destination);
  EXPECT_EQ(refusal.destination, request.source);
}

TEST(MadRefusal, OfADatagramServiceNamesTheRequestAndTheService) {
  Mad expected = kernel_mad(0x18, 0x052b60a6, 0x0100'0000, 0);
  store_be64(&expected.bytes[36], 0x0111'1c06);
  EXPECT_EQ(make_refusal(kernel_mad(0x17, 0x052b60a6, 0xffff'0000, 0x0111'1c06)).bytes,
            expected.bytes);
}

// Headers as rxe's of queue pair 1, but for the solicited event and the PSN.
TEST(MadPacket, IsAUdSendFromQueuePair1ToQueuePair1) {
  const wire::Flow flow = flow_between(ipv4(10, 8, 0, 1), ipv4(10, 8, 0, 2));
  const Mad mad = kernel_mad(0x10, 1, 0, 1);
  const Bytes bytes = make_mad_packet(flow, 0xff00'0007, mad);
  ASSERT_EQ(bytes.size(), kMadPacketBytes);
  EXPECT_TRUE(has_icrc_for(flow, 0, bytes));
  EXPECT_EQ(load_be32(&bytes[0]), 0x6400'ffffu);
  EXPECT_EQ(load_be32(&bytes[4]), 1u);
  EXPECT_EQ(load_be32(&bytes[8]), 7u);
  EXPECT_EQ(load_be32(&bytes[12]), 0x8001'0000u);
  EXPECT_EQ(load_be32(&bytes[16]), 1u);
  EXPECT_EQ(std::memcmp(&bytes[20], mad.bytes.data(), kMadBytes), 0);
}

ArrivedMad from(const wire::Address& source, std::uint8_t mark) {
  ArrivedMad arrived;
  arrived.mad.source = source;
  arrived.mad.bytes[0] = std::byte{mark};
  return arrived;
}

TEST(MadInbox, SourcesTakeTurnsAndEachKeepsItsOrder) {
  MadInbox inbox;
  const wire::Address floods = ipv4(10, 0, 0, 1), asks = ipv4(10, 0, 0, 2);
  EXPECT_EQ(inbox.put(from(floods, 0)), MadInbox::Put::kFirst);
  for (std::uint8_t i = 1; i < 100; ++i) {
    EXPECT_EQ(inbox.put(from(floods, i)), MadInbox::Put::kBehindOthers);
  }
  inbox.put(from(asks, 200));
  ArrivedMad arrived;
  ASSERT_TRUE(inbox.take(&arrived) && inbox.take(&arrived));
  EXPECT_EQ(arrived.mad.source, asks) << "the second, behind one of a hundred";
  for (std::uint8_t i = 1; i < 100; ++i) {
    ASSERT_TRUE(inbox.take(&arrived));
    EXPECT_EQ(arrived.mad.bytes[0], std::byte{i});
  }
  EXPECT_FALSE(inbox.take(&arrived));
  EXPECT_TRUE(inbox.empty());
}

TEST(MadInbox, LeavesAsMuchToOthersAsAnySourceHas) {
  MadInbox inbox;
  const auto fill_from = [&](std::uint32_t source) {
    const wire::Address address =
        ipv4(10, 0, static_cast<std::uint8_t>(source >> 8), static_cast<std::uint8_t>(source));
    std::size_t taken = 0;
    MadInbox::Put put{};
    while ((put = inbox.put(from(address, 0))) <= MadInbox::Put::kBehindOthers) ++taken;
    EXPECT_EQ(put, MadInbox::Put::kSourceHasNoRoom);
    return taken;
  };
  EXPECT_EQ(fill_from(1), MadInbox::kRoom / 2);
  EXPECT_EQ(fill_from(2), MadInbox::kRoom / 4);
  EXPECT_EQ(fill_from(1), 0u);
}

TEST(MadInbox, HasAnEnd) {
  MadInbox inbox;
  for (std::uint32_t i = 0; i < MadInbox::kRoom; ++i) {
    const wire::Address source =
        ipv4(10, 0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
    ASSERT_LE(inbox.put(from(source, 0)), MadInbox::Put::kBehindOthers) << i;
  }
  EXPECT_EQ(inbox.put(from(ipv4(11, 0, 0, 3), 0)), MadInbox::Put::kNoRoom);
}

TEST(FairQueue, GivesEqualSharesToThoseThatTakeAllTheyGet) {
  constexpr std::size_t kRoom = 1000;
  constexpr std::uint8_t kFlooding = 4;
  FairQueue<int> queue;
  // As they are taken in turn and come again, who came later catches up.
  for (int round = 0; round < 10'000; ++round) {
    for (std::uint8_t i = 0; i < kFlooding; ++i) {
      if (queue.has_room_for(ipv4(10, 0, 0, i), kRoom)) queue.push(ipv4(10, 0, 0, i), round);
    }
    if (round % 3 == 0) queue.take();
  }
  for (std::uint8_t i = 0; i < kFlooding; ++i) {
    EXPECT_NEAR(static_cast<double>(queue.size_of(ipv4(10, 0, 0, i))), kRoom / (kFlooding + 1), 2);
  }
  EXPECT_TRUE(queue.has_room_for(ipv4(10, 0, 0, 99), kRoom));
}

TEST(FairQueue, GoesOnInTurnWhenSomeHaveLeft) {
  FairQueue<int> queue;
  const wire::Address first = ipv4(10, 0, 0, 1), second = ipv4(10, 0, 0, 2);
  for (const int i : {1, 2, 3}) queue.push(first, i);
  for (const int i : {11, 12}) queue.push(second, i);
  queue.erase_if([](int i) { return i == 1 || i > 10; });
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.size_of(second), 0u);
  queue.push(second, 13);
  EXPECT_EQ(queue.take(), 2);
  EXPECT_EQ(queue.take(), 13);
  EXPECT_EQ(queue.take(), 3);
  EXPECT_EQ(queue.take(), std::nullopt);
  EXPECT_TRUE(queue.empty());
}

TEST(MadFloods, AreForgottenAfterAWhile) {
  MadFloods floods;
  for (std::uint8_t i = 0; i < MadFloods::kMostSources; ++i) floods.add(ipv4(10, 0, 0, i), kSecond);
  EXPECT_EQ(floods.present(kSecond).sources.size(), MadFloods::kMostSources);
  EXPECT_FALSE(floods.present(kSecond).all);
  floods.add(ipv4(10, 0, 1, 0), kSecond);
  EXPECT_TRUE(floods.present(kSecond).all);
  const ThinnedMads later = floods.present(2 * kSecond + MadFloods::kKept);
  EXPECT_TRUE(later.sources.empty());
  EXPECT_FALSE(later.all);
}

// How many of so many such packets the kernel lets through a filter.
class MadFilter : public testing::Test {
 protected:
  static constexpr int kSent = 400;

  int passed(const PortRules& rules, const wire::Address& source, const Bytes& packet) {
    const wire::Address here = address_of_this_test(0);
    const UniqueFd receiver(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const UniqueFd sender(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    SocketAddress to = socket_address(here, 0), own = socket_address(source, 0);
    EXPECT_EQ(bind(receiver.get(), to.get(), to.length), 0);
    EXPECT_EQ(bind(sender.get(), own.get(), own.length), 0);
    EXPECT_EQ(getsockname(receiver.get(), to.get(), &to.length), 0);
    EXPECT_TRUE(apply_filter(receiver.get(), wanted_only(rules)));
    int count = 0;
    for (int i = 0; i < kSent; ++i) {
      EXPECT_GT(sendto(sender.get(), packet.data(), packet.size(), 0, to.get(), to.length), 0);
      std::byte unread[512];
      if (recv(receiver.get(), unread, sizeof unread, 0) >= 0) ++count;
    }
    return count;
  }

  const wire::Address floods_ = address_of_this_test(1), asks_ = address_of_this_test(2);
  const Bytes right_ = make_mad_packet(flow_between(floods_, asks_), 1, kernel_mad(0x10, 1, 0, 1));
};

TEST_F(MadFilter, LetsThemThroughFromAnyPortAndNothingLikeThem) {
  EXPECT_EQ(passed({}, asks_, right_), kSent);
  Bytes wrong = right_;
  wrong[12] = std::byte{0};  // the queue key
  EXPECT_EQ(passed({}, asks_, wrong), 0);
  wrong = right_;
  wrong[0] = std::byte{0x04};  // RC
  EXPECT_EQ(passed({}, asks_, wrong), 0);
  wrong = right_;
  wrong[7] = std::byte{2};  // no process's queue pair
  EXPECT_EQ(passed({}, asks_, wrong), 0);
}

TEST_F(MadFilter, ThinsThoseOfAFloodAndNoOthers) {
  PortRules rules;
  rules.mads.sources = {floods_};
  const int of_flood = passed(rules, floods_, right_);
  EXPECT_GT(of_flood, kSent / 40);
  EXPECT_LT(of_flood, kSent / 3);
  EXPECT_EQ(passed(rules, asks_, right_), kSent);
  rules.mads.all = true;
  EXPECT_LT(passed(rules, asks_, right_), kSent / 3);
}

}  // namespace
}  // namespace gdr::net
