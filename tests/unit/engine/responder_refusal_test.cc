// What the responder of a reliable connection refuses: one NAK, and then silence.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

class RcRefusal : public Link {};

TEST_F(RcRefusal, RefusesAKeyThatWasNeverIssuedAndIsSilentAfterwards) {
  wire::Packet given = write(Operation::kWriteOnly, 100, 16, 16);
  given.reth.rkey = 1;
  receive(given);
  EXPECT_FALSE(owner.failure);  // only once the NAK is on its way
  expect_nak(poll(), 100, wire::NakCode::kRemoteAccessError);
  EXPECT_EQ(owner.failure, Fault::kAccess);
  receive(write(Operation::kWriteOnly, 100, 16, 16));
  EXPECT_FALSE(poll());
  EXPECT_TRUE(owner.writes.empty());
}

// The key is for all of the message, so that no part of it is placed.
TEST_F(RcRefusal, PlacesNothingOfAWriteThatBeginsInsideItsRegionAndEndsOutside) {
  wire::Packet given = write(Operation::kWriteFirst, 100, kMtu, kMtu + 1);
  given.reth.address = kBase + kRegionBytes - kMtu;
  receive(given);
  expect_nak(poll(), 100, wire::NakCode::kRemoteAccessError);
  EXPECT_TRUE(owner.writes.empty());
}

TEST_F(RcRefusal, RefusesRightsThatTheRegionDoesNotGrant) {
  owner.rights.erase(static_cast<int>(Right::kRead));
  receive(read(100, 8));
  expect_nak(poll(), 100, wire::NakCode::kRemoteAccessError);
}

TEST_F(RcRefusal, RefusesAnAtomicOnAnOddAddress) {
  wire::Packet given = atomic(Operation::kFetchAdd, 100, 1);
  given.atomic.address += 4;
  receive(given);
  expect_nak(poll(), 100, wire::NakCode::kInvalidRequest);
  EXPECT_EQ(owner.failure, Fault::kRequest);
}

TEST_F(RcRefusal, AMessageLongerThanItsReceiveFailsOnBothSides) {
  owner.receives = {300};
  receive(with_payload(Operation::kSendFirst, 100, kMtu, false));
  receive(with_payload(Operation::kSendLast, 101, 100));
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.received[0].outcome, Placed::kTooLong);
  expect_nak(poll(), 101, wire::NakCode::kInvalidRequest);
  EXPECT_EQ(owner.failure, Fault::kRequest);
}

TEST_F(RcRefusal, AReceiveWhoseKeysAreWrongIsAnOperationalError) {
  owner.receives = {300};
  owner.receive_result = Placed::kFault;
  receive(with_payload(Operation::kSendOnly, 100, 16));
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.received[0].outcome, Placed::kFault);
  expect_nak(poll(), 100, wire::NakCode::kRemoteOperationalError);
}

TEST_F(RcRefusal, ARegionThatWentDuringItsReadEndsTheConnection) {
  receive(read(100, 3 * kMtu));
  ASSERT_TRUE(poll());
  std::optional<Transmit> second = poll();
  ASSERT_TRUE(second);
  owner.rights.clear();
  connection().payload_unavailable(*second, now);
  expect_nak(poll(), 101, wire::NakCode::kRemoteAccessError);
  EXPECT_EQ(owner.failure, Fault::kAccess);
  EXPECT_FALSE(poll());
}

TEST_F(RcRefusal, MemoryThatWentUnderItsRegionDuringAReadIsAnOperationalError) {
  receive(read(100, 3 * kMtu));
  std::optional<Transmit> first = poll();
  ASSERT_TRUE(first);
  connection().payload_unavailable(*first, now);
  expect_nak(poll(), 100, wire::NakCode::kRemoteOperationalError);
  EXPECT_EQ(owner.failure, Fault::kRequest);
}

struct Wrong {
  const char* name;
  std::vector<std::pair<Operation, std::size_t>> packets;
  std::uint32_t length;  // of the RETH
};
// What ctest names the test after.
std::ostream& operator<<(std::ostream& to, const Wrong& wrong) { return to << wrong.name; }

class RcResponderRefuses : public Link, public testing::WithParamInterface<Wrong> {};

TEST_P(RcResponderRefuses, AMessageWhosePacketsAreWrong) {
  owner.receives = {4096};
  std::uint32_t psn = 100;
  for (const auto& [operation, size] : GetParam().packets) {
    receive(write(operation, psn++, size, GetParam().length, false));
  }
  expect_nak(poll(), psn - 1, wire::NakCode::kInvalidRequest);
  EXPECT_EQ(owner.failure, Fault::kRequest);
}

INSTANTIATE_TEST_SUITE_P(
    EachRule, RcResponderRefuses,
    testing::Values(
        Wrong{"MiddleWithoutFirst", {{Operation::kSendMiddle, kMtu}}, 0},
        Wrong{"LastWithoutFirst", {{Operation::kWriteLast, 8}}, 8},
        Wrong{"FirstInsideAMessage",
              {{Operation::kSendFirst, kMtu}, {Operation::kSendFirst, kMtu}},
              0},
        Wrong{"WriteInsideASend",
              {{Operation::kSendFirst, kMtu}, {Operation::kWriteLast, 8}},
              kMtu + 8},
        Wrong{"WriteMiddleInsideASend",
              {{Operation::kSendFirst, kMtu}, {Operation::kWriteMiddle, kMtu}},
              3 * kMtu},
        Wrong{"SendInsideAWrite",
              {{Operation::kWriteFirst, kMtu}, {Operation::kSendLast, 8}},
              kMtu + 8},
        Wrong{"ReadInsideASend", {{Operation::kSendFirst, kMtu}, {Operation::kReadRequest, 0}}, 8},
        Wrong{"ShortFirst", {{Operation::kSendFirst, kMtu - 4}}, 0},
        Wrong{"LongFirst", {{Operation::kSendFirst, kMtu + 4}}, 0},
        Wrong{"EmptyLast", {{Operation::kSendFirst, kMtu}, {Operation::kSendLast, 0}}, 0},
        Wrong{"LongLast", {{Operation::kSendFirst, kMtu}, {Operation::kSendLast, kMtu + 1}}, 0},
        Wrong{"LongOnly", {{Operation::kSendOnly, kMtu + 1}}, 0},
        Wrong{"WriteLongerThanItSaid",
              {{Operation::kWriteFirst, kMtu}, {Operation::kWriteLast, 9}},
              kMtu + 8},
        Wrong{"WriteShorterThanItSaid", {{Operation::kWriteOnly, 8}}, 9},
        Wrong{"WriteWhoseMiddleFillsIt",
              {{Operation::kWriteFirst, kMtu}, {Operation::kWriteMiddle, kMtu}},
              2 * kMtu}));

}  // namespace
}  // namespace gdr::engine::test
