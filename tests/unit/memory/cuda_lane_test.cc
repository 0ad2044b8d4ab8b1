// How a lane gathers copies, over a driver whose copies end when the test says so.
#include "memory/cuda_lane.h"

#include <gtest/gtest.h>

#include "soon.h"

namespace gdr::memory {
namespace {

using cuda::CUresult;
using Kind = CudaCopy::Kind;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kBad = 0xbad000;  // an address that the driver refuses

// The driver's functions are plain ones, so what they note is, too.
struct Calls {
  std::vector<std::vector<std::uint64_t>> issued;  // the targets of each call's copies
  std::vector<cuda::CUevent> recorded;
  std::size_t ended = 0;  // events that have been reached, of recorded
  CUresult broken = cuda::CUDA_SUCCESS;
  std::uintptr_t made = 0;
  std::uint64_t queries = 0;
};
Calls calls;

CUresult issue(std::vector<std::uint64_t> targets) {
  for (const std::uint64_t target : targets) {
    if (target == kBad) return cuda::CUDA_ERROR_INVALID_VALUE;
  }
  calls.issued.push_back(std::move(targets));
  return cuda::CUDA_SUCCESS;
}

cuda::Driver make_driver() {
  cuda::Driver driver;
  driver.thread_exchange_stream_capture_mode = [](auto*) { return cuda::CUDA_SUCCESS; };
  driver.ctx_push_current = [](auto) { return cuda::CUDA_SUCCESS; };
  driver.ctx_pop_current = [](auto*) { return cuda::CUDA_SUCCESS; };
  driver.get_error_name = [](auto, auto** text) { return *text = "broken", cuda::CUDA_SUCCESS; };
  driver.get_error_string = driver.get_error_name;
  driver.stream_create_with_priority = [](auto*, auto, auto) { return cuda::CUDA_SUCCESS; };
  driver.event_create = [](cuda::CUevent* event, auto) {
    *event = reinterpret_cast<cuda::CUevent>(++calls.made);
    return cuda::CUDA_SUCCESS;
  };
  driver.event_record = [](auto event, auto) {
    calls.recorded.push_back(event);
    return cuda::CUDA_SUCCESS;
  };
  driver.event_query = [](cuda::CUevent event) {
    ++calls.queries;
    if (calls.broken != cuda::CUDA_SUCCESS) return calls.broken;
    // An event stands for its latest record.
    for (std::size_t i = calls.recorded.size(); i > calls.ended; --i) {
      if (calls.recorded[i - 1] == event) return cuda::CUDA_ERROR_NOT_READY;
    }
    return cuda::CUDA_SUCCESS;
  };
  driver.memcpy_async = [](auto to, auto, auto, auto) { return issue({to}); };
  driver.memcpy_htod_async = [](auto to, auto, auto, auto) { return issue({to}); };
  driver.memcpy_batch_async = [](auto* to, auto*, auto*, auto count, auto*, auto*, auto, auto) {
    return issue({to, to + count});
  };
  return driver;
}

class Lane : public testing::Test {
 protected:
  void SetUp() override {
    calls = {};
    ASSERT_EQ(lane_.prepare(driver_, nullptr, 0), cuda::CUDA_SUCCESS);
  }

  std::uint64_t add(std::uint64_t to, std::uint64_t bytes = 4096, Kind kind = Kind::kOnDevice) {
    const std::optional<std::uint64_t> number = lane_.add({to, 0, bytes, kind});
    EXPECT_TRUE(number);
    return number.value_or(0);
  }
  // The driver is not asked again at once: of 16 MiB, after 5 microseconds.
  bool finished(std::uint64_t number) {
    const Nanoseconds end = now() + 20 * kMicrosecond;
    while (now() < end) (void)lane_.finished(number);
    return *lane_.finished(number);
  }
  void fill_both_batches() {
    EXPECT_FALSE(finished(add(1)));
    EXPECT_FALSE(finished(add(2)));
    ASSERT_EQ(calls.recorded.size(), 2u);
  }

  cuda::Driver driver_ = make_driver();
  CudaLane lane_;
};

TEST_F(Lane, IssuesALoneCopyAtOnceAndEndsItWithItsEvent) {
  const std::uint64_t copy = add(7);
  EXPECT_FALSE(finished(copy));
  EXPECT_EQ(calls.issued, (std::vector<std::vector<std::uint64_t>>{{7}}));
  calls.ended = 1;
  EXPECT_TRUE(finished(copy));
}

TEST_F(Lane, GoesOnWithAllCopiesByOneCall) {
  const std::uint64_t first = add(1), second = add(2);
  lane_.go_on();
  EXPECT_EQ(calls.issued, (std::vector<std::vector<std::uint64_t>>{{1, 2}}));
  const std::uint64_t third = add(3);
  lane_.go_on();
  EXPECT_EQ(calls.issued.size(), 2u);
  EXPECT_FALSE(lane_.is_over(first));
  calls.ended = 1;
  for (const Nanoseconds end = now() + 20 * kMicrosecond; now() < end;) lane_.go_on();
  EXPECT_TRUE(lane_.is_over(first));
  EXPECT_TRUE(lane_.is_over(second));
  EXPECT_FALSE(lane_.is_over(third));
}

TEST_F(Lane, AsksTheDriverLessOftenForALongBatch) {
  const std::uint64_t copy = add(1, 256 * kMiB);
  EXPECT_FALSE(*lane_.finished(copy));
  const std::uint64_t asked = calls.queries;
  const Nanoseconds start = now();
  while (now() - start < 200 * kMicrosecond) EXPECT_FALSE(*lane_.finished(copy));
  constexpr Nanoseconds kEighth = 256 * kMiB / 400 / 8;
  EXPECT_LE(calls.queries - asked, 1 + (now() - start) / kEighth);
  calls.ended = 1;
  for (const Nanoseconds end = now() + 2 * kEighth; now() < end;) (void)lane_.finished(copy);
  EXPECT_TRUE(*lane_.finished(copy));
}

TEST_F(Lane, GathersWhatComesWhileTwoBatchesAreUnderWay) {
  fill_both_batches();
  for (std::uint64_t to = 3; to < 8; ++to) EXPECT_FALSE(finished(add(to)));
  EXPECT_EQ(calls.issued.size(), 2u);
  calls.ended = 1;
  EXPECT_FALSE(finished(7));
  ASSERT_EQ(calls.issued.size(), 3u);
  EXPECT_EQ(calls.issued[2], (std::vector<std::uint64_t>{3, 4, 5, 6, 7}));
  EXPECT_TRUE(finished(1));
  EXPECT_FALSE(finished(2));
  calls.ended = 3;
  for (std::uint64_t copy = 2; copy < 8; ++copy) EXPECT_TRUE(finished(copy)) << copy;
}

TEST_F(Lane, PutsAtMost16CopiesOr16MebibytesIntoABatch) {
  fill_both_batches();
  for (std::uint64_t to = 0; to < 20; ++to) add(to);
  for (std::uint64_t to = 0; to < 5; ++to) add(to, 4 * kMiB);
  const auto sizes = [] {
    std::vector<std::size_t> all;
    for (const auto& issued : calls.issued) all.push_back(issued.size());
    return all;
  };
  (void)finished(27);
  // Full ones need not wait: four short ones and four long ones are 16 MiB and a little.
  EXPECT_EQ(sizes(), (std::vector<std::size_t>{1, 1, 16, 8}));
  calls.ended = 2;
  EXPECT_FALSE(finished(27));
  EXPECT_EQ(sizes(), (std::vector<std::size_t>{1, 1, 16, 8})) << "the last might have company";
  calls.ended = 3;
  EXPECT_FALSE(finished(27));
  EXPECT_EQ(sizes(), (std::vector<std::size_t>{1, 1, 16, 8, 1}));
  calls.ended = 5;
  EXPECT_TRUE(finished(27));
}

// A batch has no order, a stream has.
TEST_F(Lane, PutsNoTwoCopiesOfASequenceIntoABatchAndIssuesThemWithoutWaiting) {
  const int one = 0, other = 0;
  fill_both_batches();
  const auto add_to = [&](std::uint64_t to, const void* sequence, bool may_overtake = false) {
    return *lane_.add({to, 0, 4096, Kind::kOnDevice, false, sequence, may_overtake});
  };
  add_to(10, &one);
  add_to(20, &other);
  add_to(11, &one);
  add_to(12, &one);
  add_to(21, &other, true);
  add_to(13, &one);
  const std::uint64_t last = add_to(14, &one);
  EXPECT_FALSE(finished(last));
  using Batches = std::vector<std::vector<std::uint64_t>>;
  EXPECT_EQ(calls.issued, (Batches{{1}, {2}, {10, 20}, {11}, {12, 21}, {13}}))
      << "14 might have company";
  calls.ended = 5;
  EXPECT_FALSE(finished(last));
  EXPECT_EQ(calls.issued.back(), (std::vector<std::uint64_t>{14}));
  EXPECT_TRUE(lane_.is_over(last - 2)) << "12";
  EXPECT_FALSE(lane_.is_over(last));
  calls.ended = 7;
  EXPECT_TRUE(finished(last));
}

TEST_F(Lane, IssuesLongCopiesOfTheLibrarysOwnHostMemoryTogether) {
  fill_both_batches();
  const auto add_host = [&](std::uint64_t to, std::uint64_t bytes) {
    return *lane_.add({to, 0, bytes, Kind::kFromHost, true});
  };
  add_host(3, kMiB);
  const std::uint64_t last = add_host(4, kMiB);
  calls.ended = 1;
  EXPECT_FALSE(finished(last));
  EXPECT_EQ(calls.issued.back(), (std::vector<std::uint64_t>{3, 4}));
}

TEST_F(Lane, FailsOnlyTheCopyThatTheDriverRefuses) {
  fill_both_batches();
  const std::uint64_t good = add(3), bad = add(kBad), other = add(4);
  calls.ended = 2;
  EXPECT_FALSE(finished(good));
  calls.ended = 3;
  EXPECT_TRUE(finished(good));
  EXPECT_TRUE(finished(other));
  const Result<bool> answer = lane_.finished(bad);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, EFAULT);
}

TEST_F(Lane, TellsOfARefusedCopyOnlyWhenItsBatchHasEnded) {
  const std::uint64_t bad = add(kBad);
  EXPECT_FALSE(finished(bad));
  calls.ended = 1;
  Result<bool> answer = false;
  for (const Nanoseconds end = now() + test::kLastResort; answer && !*answer && now() < end;) {
    answer = lane_.finished(bad);
  }
  EXPECT_FALSE(answer);
}

TEST_F(Lane, IssuesSinglyWhereTheDriverKnowsNoBatches) {
  driver_.memcpy_batch_async = nullptr;
  fill_both_batches();
  add(3);
  const std::uint64_t last = add(4);
  calls.ended = 1;
  EXPECT_FALSE(finished(last));
  EXPECT_EQ(calls.issued, (std::vector<std::vector<std::uint64_t>>{{1}, {2}, {3}, {4}}));
  EXPECT_EQ(calls.recorded.size(), 3u) << "one event for both";
}

TEST_F(Lane, IssuesHostMemorySinglyInTheShapeThatItNeeds) {
  fill_both_batches();
  add(3, kMiB, Kind::kFromHost);
  const std::uint64_t last = add(4, kMiB, Kind::kFromHost);
  calls.ended = 1;
  EXPECT_FALSE(finished(last));
  EXPECT_EQ(calls.issued, (std::vector<std::vector<std::uint64_t>>{{1}, {2}, {3}, {4}}));
}

TEST_F(Lane, FailsWhatHasNotEndedWhenTheGpuFails) {
  const std::uint64_t first = add(1);
  EXPECT_FALSE(finished(first));
  calls.ended = 1;
  EXPECT_TRUE(finished(first));
  const std::uint64_t second = add(2), third = add(3);
  EXPECT_FALSE(finished(second));
  calls.broken = cuda::CUDA_ERROR_ILLEGAL_ADDRESS;
  for (const std::uint64_t copy : {second, third}) {
    Result<bool> answer = false;
    for (const Nanoseconds end = now() + test::kLastResort; answer && now() < end;) {
      answer = lane_.finished(copy);
    }
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, EIO);
  }
  EXPECT_TRUE(*lane_.finished(first));
}

TEST_F(Lane, TakesNoMoreThanItCanHold) {
  std::size_t taken = 0;
  while (taken < 100'000 && lane_.add({1, 0, 4096, Kind::kOnDevice})) ++taken;
  EXPECT_LT(taken, 100'000u);
  (void)finished(1);  // issues some of them
  EXPECT_TRUE(lane_.add({1, 0, 4096, Kind::kOnDevice}));
}

TEST_F(Lane, KnowsNoCopyThatItWasNotGiven) {
  add(1);
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    const Result<bool> answer = lane_.finished(number);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, EINVAL);
  }
}

}  // namespace
}  // namespace gdr::memory
