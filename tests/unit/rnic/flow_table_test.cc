// The shared table of flow rules: what its owner writes, and what others read of it meanwhile.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "rnic/flow.h"

namespace gdr::rnic {
namespace {

FlowMatch match_of_port(std::uint16_t port) {
  FlowMatch match{};
  match.destination_port = port;
  match.destination_port_mask = 0xffff;
  return match;
}

class Table : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = parse_devices("a,b");
    ASSERT_TRUE(devices);
    auto made = Segment::create(make_token(1, 1), *devices);
    ASSERT_TRUE(made) << made.error().message;
    segment_ = std::move(*made);
  }
  std::uint32_t end() { return segment_->header().flow_end.load(); }

  std::unique_ptr<Segment> segment_;
};

TEST_F(Table, PublishesRulesBelowTheEnd) {
  FlowTable table(*segment_);
  const FlowMatch match = match_of_port(4791);
  const auto index = table.add(match, 1, 7, 3);
  ASSERT_TRUE(index);
  EXPECT_LT(*index, end());
  const SharedFlow& flow = segment_->flow(*index);
  EXPECT_NE(flow.generation.load(), 0u);
  EXPECT_EQ(flow.device, 1u);
  EXPECT_EQ(flow.queue_pair, 7u);
  EXPECT_EQ(flow.rank, 3u);
  EXPECT_EQ(std::memcmp(&flow.match, &match, sizeof match), 0);
}

TEST_F(Table, ReusesWhatWasRemovedUnderAnotherGeneration) {
  FlowTable table(*segment_);
  const FlowMatch match{};
  const std::uint32_t first = *table.add(match, 0, 1, 0);
  const std::uint32_t second = *table.add(match, 0, 2, 0);
  const std::uint32_t generation = segment_->flow(first).generation.load();
  table.remove(first);
  EXPECT_EQ(segment_->flow(first).generation.load(), 0u);
  EXPECT_EQ(end(), second + 1);
  EXPECT_EQ(*table.add(match, 0, 3, 0), first);
  EXPECT_NE(segment_->flow(first).generation.load(), generation);
  table.remove(second);
  EXPECT_EQ(end(), first + 1);
  table.remove(first);
  EXPECT_EQ(end(), 0u);
}

TEST_F(Table, SaysWhenItIsFullAndRecovers) {
  FlowTable table(*segment_);
  for (std::uint32_t i = 0; i < kFlows; ++i) ASSERT_TRUE(table.add(FlowMatch{}, 0, 1, 0)) << i;
  const auto more = table.add(FlowMatch{}, 0, 1, 0);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ENOMEM);
  table.remove(500);
  EXPECT_EQ(*table.add(FlowMatch{}, 0, 1, 0), 500u);
}

TEST_F(Table, RemovesTheRulesOfAQueuePairWhateverWasWrittenOverThem) {
  FlowTable table(*segment_);
  const Result<std::uint32_t> mine = table.add(FlowMatch{}, 0, 5, 0);
  const Result<std::uint32_t> other = table.add(FlowMatch{}, 0, 6, 0);
  ASSERT_TRUE(mine);
  ASSERT_TRUE(other);
  std::swap(segment_->flow(*mine).queue_pair, segment_->flow(*other).queue_pair);
  table.remove_all_of(5);
  EXPECT_EQ(segment_->flow(*mine).generation.load(), 0u);
  EXPECT_NE(segment_->flow(*other).generation.load(), 0u);
}

// Copies in two halves, with whatever the owner does in between.
template <typename Change>
auto halved_by(Change change) {
  return [change](const SharedFlow& flow) {
    FlowRule rule{flow.device, flow.queue_pair, 0, 0, 0, {}};
    change();
    rule.rank = flow.rank;
    rule.match = flow.match;
    return rule;
  };
}

TEST_F(Table, RuleThatChangesWhileItIsReadIsReadAgain) {
  FlowTable table(*segment_);
  const std::uint32_t index = *table.add(match_of_port(1), 0, 1, 1);
  bool changed = false;
  const auto rule = read_rule(segment_->flow(index), halved_by([&] {
                                if (std::exchange(changed, true)) return;
                                table.remove(index);
                                ASSERT_EQ(*table.add(match_of_port(2), 0, 2, 2), index);
                              }));
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->queue_pair, 2u) << "the half that was read before the change";
  EXPECT_EQ(rule->rank, 2u);
  EXPECT_EQ(rule->match.destination_port, 2u);
}

TEST_F(Table, RuleThatKeepsChangingOrGoesAwayWhileItIsReadTakesNoFrame) {
  FlowTable table(*segment_);
  std::uint32_t number = 1;
  const std::uint32_t index = *table.add(match_of_port(1), 0, number, number);
  const SharedFlow& flow = segment_->flow(index);
  EXPECT_FALSE(read_rule(flow, halved_by([&] {
                           table.remove(index);
                           ++number;
                           ASSERT_EQ(*table.add(match_of_port(1), 0, number, number), index);
                         })));
  EXPECT_TRUE(read_rule(flow));
  EXPECT_FALSE(read_rule(flow, halved_by([&] { table.remove(index); })));
  EXPECT_FALSE(read_rule(flow));
}

TEST_F(Table, SurvivesAnEndThatAnotherProcessOverwrote) {
  FlowTable table(*segment_);
  const std::uint32_t index = *table.add(FlowMatch{}, 0, 1, 0);
  segment_->header().flow_end.store(0xffffffff);
  table.remove(index);
  EXPECT_EQ(end(), 0u);
  table.remove(0xffffffff);  // nobody's
  EXPECT_FALSE(table.add(FlowMatch{}, kDevices, 1, 0));
  EXPECT_FALSE(table.add(FlowMatch{}, 0, kQueuePairs, 0));
}

}  // namespace
}  // namespace gdr::rnic
