#include "perf/rules.h"

#include <gtest/gtest.h>

#include <functional>

namespace gdr::perf {
namespace {

std::string judged(const std::function<void(Load&)>& change, std::uint64_t largest = 64) {
  Load load;
  change(load);
  const Result<void> right = check_load(load, largest);
  if (right) return "";
  EXPECT_EQ(right.error().code, EINVAL);
  return right.error().message;
}

struct Contradiction {
  std::string one, other, instead;
  std::function<void(Load&)> change;
};

Place staged() { return {Place::Kind::kStaged, 0}; }
Place gpu() { return {Place::Kind::kGpu, 0}; }

const std::vector<Contradiction>& contradictions() {
  static const std::vector<Contradiction> all{
      {"--nic with 2 ports", "--threads 1", "a thread of its own", [](Load& l) { l.ports = 2; }},
      {"--nic with 3 ports", "--queue-pairs 2", "a queue pair of its own",
       [](Load& l) { l.ports = l.threads = 3, l.queue_pairs = 2; }},
      {"--nic with 2 ports", "--measure latency", "one after another",
       [](Load& l) {
         l.ports = l.threads = l.queue_pairs = 2;
         l.measure = Measure::kLatency;
       }},
      {"--threads 2", "--queue-pairs 1", "a queue pair of its own", [](Load& l) { l.threads = 2; }},
      {"--batch 9", "--depth 8", "larger than the depth",
       [](Load& l) { l.batch = 9, l.depth = 8; }},
      {"--signal-every 9", "--depth 8", "no completion",
       [](Load& l) { l.signal_every = 9, l.depth = 8; }},
      {"--operation write", "--transport UD", "--operation send",
       [](Load& l) { l.transport = Transport::kUd; }},
      {"--operation read", "--transport UC", "need RC or XRC",
       [](Load& l) { l.operation = Operation::kRead, l.transport = Transport::kUc; }},
      {"--rdma-cm", "--transport XRC", "--transport rc",
       [](Load& l) { l.rdma_cm = true, l.transport = Transport::kXrc; }},
      {"--rdma-cm", "--service-level 3", "chooses the service level",
       [](Load& l) { l.rdma_cm = true, l.service_level = 3; }},
      {"--srq", "--operation write", "--operation send", [](Load& l) { l.shared_receives = true; }},
      {"--both-ways", "--measure latency", "goes both ways",
       [](Load& l) { l.both_ways = true, l.measure = Measure::kLatency; }},
      {"--queue-pairs 2", "--measure latency", "one queue pair per thread",
       [](Load& l) { l.queue_pairs = 2, l.measure = Measure::kLatency; }},
      {"--inline 64", "GPU memory", "the CPU copies",
       [](Load& l) { l.inline_bytes = 64, l.near = gpu(); }},
      {"--inline 64", "GPU memory", "the CPU copies",
       [](Load& l) { l.inline_bytes = 64, l.far = gpu(); }},
      {"--huge-pages", "GPU memory on both sides", "host memory",
       [](Load& l) { l.huge_pages = true, l.near = l.far = gpu(); }},
      {"--memory staged", "--operation read", "--operation write or send",
       [](Load& l) { l.near = staged(), l.operation = Operation::kRead; }},
      {"--memory staged", "--transport UC", "--transport rc",
       [](Load& l) { l.far = staged(), l.transport = Transport::kUc; }},
      {"--memory staged", "--both-ways", "one direction",
       [](Load& l) { l.near = staged(), l.both_ways = true; }},
      {"--memory staged", "--queue-pairs 2", "one queue pair per thread",
       [](Load& l) { l.near = staged(), l.queue_pairs = 2; }},
      {"--sizes 64", "--operation fetch-add", "--sizes 8",
       [](Load& l) { l.operation = Operation::kFetchAndAdd; }}};
  return all;
}

TEST(Rules, NamesBothSidesOfEveryContradictionAndWhatToDo) {
  for (const Contradiction& each : contradictions()) {
    const std::string text = judged(each.change);
    EXPECT_EQ(text.find(each.one + " does not work with " + each.other + ": "), 0u)
        << each.one << ", " << each.other << ": " << text;
    EXPECT_NE(text.find(each.instead), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(Rules, AcceptsEverythingThatGoesTogether) {
  EXPECT_EQ(judged([](Load&) {}), "");
  EXPECT_EQ(judged([](Load& l) { l.queue_pairs = 4096, l.threads = 64; }), "");
  EXPECT_EQ(judged([](Load& l) { l.queue_pairs = l.threads = 2, l.measure = Measure::kLatency; }),
            "");
  EXPECT_EQ(judged([](Load& l) { l.operation = Operation::kSend, l.transport = Transport::kUd; }),
            "");
  EXPECT_EQ(
      judged([](Load& l) { l.operation = Operation::kSend, l.shared_receives = l.check = true; }),
      "");
  EXPECT_EQ(judged([](Load& l) { l.near = l.far = staged(), l.check = true; }), "");
  EXPECT_EQ(judged([](Load& l) { l.check = l.both_ways = true; }), "");
  EXPECT_EQ(judged([](Load& l) { l.huge_pages = true, l.near = gpu(); }), "");
  EXPECT_EQ(judged([](Load& l) { l.operation = Operation::kCompareAndSwap; }, 8), "");
  EXPECT_EQ(judged([](Load& l) { l.batch = l.signal_every = l.depth; }), "");
  EXPECT_EQ(judged([](Load& l) { l.ports = 16, l.threads = l.queue_pairs = 17; }), "");
}

TEST(Rules, SaysHowMuchIsPossibleOfEachNumber) {
  EXPECT_EQ(judged([](Load& l) { l.queue_pairs = 4097; }),
            "--queue-pairs 4097: allowed are 1 to 4096");
  EXPECT_EQ(judged([](Load& l) { l.queue_pairs = 0; }), "--queue-pairs 0: allowed are 1 to 4096");
  EXPECT_EQ(judged([](Load& l) { l.threads = 65, l.queue_pairs = 65; }),
            "--threads 65: allowed are 1 to 64");
  EXPECT_EQ(judged([](Load& l) { l.threads = 0; }), "--threads 0: allowed are 1 to 64");
  EXPECT_EQ(judged([](Load& l) { l.ports = 0; }), "--nic with 0 ports: allowed are 1 to 16");
  EXPECT_EQ(judged([](Load& l) { l.ports = l.threads = l.queue_pairs = 17; }),
            "--nic with 17 ports: allowed are 1 to 16");
  EXPECT_EQ(judged([](Load& l) { l.depth = 8193; }), "--depth 8193: allowed are 1 to 8192");
  EXPECT_EQ(judged([](Load& l) { l.depth = 0; }), "--depth 0: allowed are 1 to 8192");
  EXPECT_EQ(judged([](Load& l) { l.batch = 0; }), "--batch 0: allowed are 1 to 128");
  EXPECT_EQ(judged([](Load&) {}, 0), "--sizes 0: allowed are 1 to 1073741824");
  EXPECT_EQ(judged([](Load&) {}, kLargestSize + 1),
            "--sizes 1073741825: allowed are 1 to 1073741824");
}

// From the other side come numbers, not names.
TEST(Rules, RefusesEnumeratorsThatNobodyHas) {
  const std::function<void(Load&)> changes[] = {
      [](Load& l) { l.operation = static_cast<Operation>(6); },
      [](Load& l) { l.transport = static_cast<Transport>(4); },
      [](Load& l) { l.measure = static_cast<Measure>(3); },
      [](Load& l) { l.way = static_cast<Way>(3); },
      [](Load& l) { l.near.kind = static_cast<Place::Kind>(5); },
      [](Load& l) { l.far.kind = static_cast<Place::Kind>(255); }};
  for (const auto& change : changes) {
    EXPECT_EQ(judged(change), "this version does not know the requested load");
  }
}

TEST(Rules, BoundEveryTime) {
  const Timing right{.slice_nanoseconds = 1'000'000, .slices = 10};
  EXPECT_TRUE(check_timing(right));
  for (auto change : {+[](Timing& t) { t.slices = 0; }, +[](Timing& t) { t.slices = 10'001; },
                      +[](Timing& t) { t.slice_nanoseconds = ~std::uint64_t{0}; },
                      +[](Timing& t) { t.warm_up_nanoseconds = ~std::uint64_t{0}; },
                      +[](Timing& t) { t.slice_nanoseconds = 0; }}) {
    Timing timing = right;
    change(timing);
    EXPECT_FALSE(check_timing(timing));
  }
}

}  // namespace
}  // namespace gdr::perf
