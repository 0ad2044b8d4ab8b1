#include "rnic/multicast.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gdr::rnic {
namespace {

GroupId gid_of(const char* text) {
  GroupId gid{};
  EXPECT_EQ(inet_pton(AF_INET6, text, gid.data()), 1);
  return gid;
}

TEST(MulticastGid, IsOneOfIpv6OrAMappedOneOfIpv4) {
  EXPECT_TRUE(is_multicast(gid_of("ff0e::1")));
  EXPECT_TRUE(is_multicast(gid_of("::ffff:224.0.0.1")));
  EXPECT_TRUE(is_multicast(gid_of("::ffff:239.255.255.255")));
  EXPECT_FALSE(is_multicast(gid_of("::ffff:240.0.0.1")));
  EXPECT_FALSE(is_multicast(gid_of("::ffff:10.0.0.1")));
  EXPECT_FALSE(is_multicast(gid_of("fe80::1")));
  EXPECT_FALSE(is_multicast(gid_of("::224.0.0.1")));
}

class Members : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Segment::create(make_token(1, 1), *parse_devices("a,b"));
    ASSERT_TRUE(made) << made.error().message;
    segment_ = *std::move(made);
  }
  std::vector<std::uint32_t> members_of(const GroupId& group) {
    std::vector<std::uint32_t> found;
    const std::uint32_t end = std::min(segment_->header().member_end.load(), kMembers);
    for (std::uint32_t i = 0; i < end; ++i) {
      const std::optional<Member> member = read_member(segment_->member(i));
      if (member && member->group == group) found.push_back(member->queue_pair);
    }
    return found;
  }
  using Numbers = std::vector<std::uint32_t>;

  const GroupId one_ = gid_of("ff0e::1"), two_ = gid_of("ff0e::2");
  std::unique_ptr<Segment> segment_;
};

TEST_F(Members, AreWhoAttachedAndDidNotDetach) {
  MemberTable table(*segment_);
  for (const std::uint32_t queue_pair : {5u, 6u, 7u}) EXPECT_TRUE(*table.attach(one_, queue_pair));
  EXPECT_TRUE(*table.attach(two_, 6));
  EXPECT_TRUE(table.detach(one_, 6));
  EXPECT_EQ(members_of(one_), (Numbers{5, 7}));
  EXPECT_EQ(members_of(two_), (Numbers{6}));
}

TEST_F(Members, AreMembersOnceHoweverOftenTheyAttach) {
  MemberTable table(*segment_);
  EXPECT_TRUE(*table.attach(one_, 5));
  EXPECT_FALSE(*table.attach(one_, 5));
  EXPECT_EQ(members_of(one_), (Numbers{5}));
  EXPECT_TRUE(table.detach(one_, 5));
  const Result<void> again = table.detach(one_, 5);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, EINVAL);
}

TEST_F(Members, LeaveEveryGroupWithTheirQueuePairWhateverWasWrittenOverThem) {
  MemberTable table(*segment_);
  ASSERT_TRUE(table.attach(one_, 5));
  ASSERT_TRUE(table.attach(one_, 6));
  ASSERT_TRUE(table.attach(two_, 5));
  segment_->member(0).queue_pair = 6;
  segment_->header().member_end.store(0xffffffff);
  table.detach_all_of(5);
  EXPECT_EQ(members_of(one_), (Numbers{6}));
  EXPECT_TRUE(members_of(two_).empty());
}

TEST_F(Members, FillTheTableAndMakeRoomAgain) {
  MemberTable table(*segment_);
  for (std::uint32_t i = 0; i < kMembers; ++i) ASSERT_TRUE(table.attach(one_, i)) << i;
  const Result<bool> more = table.attach(one_, kMembers);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ENOMEM);
  ASSERT_TRUE(table.detach(one_, 100));
  EXPECT_TRUE(table.attach(two_, 1));
  EXPECT_EQ(members_of(two_), (Numbers{1}));
}

}  // namespace
}  // namespace gdr::rnic
