#include "rnic/delivery/registered_bytes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <numeric>

#include "memory/fault_guard.h"
#include "missing_pages.h"

namespace gdr::rnic {
namespace {

constexpr std::size_t kPage = 4096;

class RegisteredBytesTest : public testing::Test {
 protected:
  RegisteredBytesTest() {
    std::iota(reinterpret_cast<unsigned char*>(bytes_.data()),
              reinterpret_cast<unsigned char*>(bytes_.data() + 64), 1);
  }
  static Place place(const void* at, Reach reach) {
    Place place;
    place.address = reinterpret_cast<std::uint64_t>(at);
    place.reach = reach;
    return place;
  }

  std::array<std::byte, 64> bytes_{}, other_{};
};

TEST_F(RegisteredBytesTest, OfTheHostAreReadAndWrittenInPlace) {
  const Place host = place(other_.data(), Reach::kHost);
  EXPECT_TRUE(is_plain(host));
  EXPECT_TRUE(write_registered(host, bytes_));
  EXPECT_EQ(other_, bytes_);
  std::array<std::byte, 64> back{};
  EXPECT_TRUE(read_registered(host, back));
  EXPECT_EQ(back, bytes_);
}

TEST_F(RegisteredBytesTest, OfTheNullRegionReadAsZeroAndTakeAnything) {
  const Place null = place(nullptr, Reach::kNothing);
  EXPECT_FALSE(is_plain(null));
  EXPECT_TRUE(write_registered(null, bytes_));
  EXPECT_TRUE(read_registered(null, bytes_));
  EXPECT_EQ(bytes_, other_) << "zeros";
}

TEST_F(RegisteredBytesTest, OnDemandAreReadAndWrittenWherePagesAre) {
  const Place there = place(other_.data(), Reach::kOnDemand);
  EXPECT_FALSE(is_plain(there));
  EXPECT_TRUE(write_registered(there, bytes_));
  EXPECT_EQ(other_, bytes_);
  std::array<std::byte, 64> back{};
  EXPECT_TRUE(read_registered(there, back));
  EXPECT_EQ(back, bytes_);
}

TEST_F(RegisteredBytesTest, OnDemandAreAnErrorWherePagesAreNot) {
  void* page = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* bytes = static_cast<std::byte*>(page);
  ASSERT_EQ(munmap(bytes + kPage, kPage), 0);
  EXPECT_FALSE(write_registered(place(bytes + kPage, Reach::kOnDemand), bytes_));
  EXPECT_FALSE(read_registered(place(bytes + kPage, Reach::kOnDemand), bytes_));
  EXPECT_FALSE(write_registered(place(bytes + kPage - 8, Reach::kOnDemand), bytes_))
      << "not even where only the end is missing";
  ASSERT_EQ(mprotect(bytes, kPage, PROT_READ), 0);
  EXPECT_TRUE(read_registered(place(bytes, Reach::kOnDemand), bytes_));
  EXPECT_FALSE(write_registered(place(bytes, Reach::kOnDemand), bytes_));
  munmap(bytes, kPage);
}

// As UCX does with receive buffers that datagrams still come to.
TEST_F(RegisteredBytesTest, OfTheHostAreAnErrorWherePagesAreGone) {
  memory::catch_faults();
  void* page = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* bytes = static_cast<std::byte*>(page);
  ASSERT_TRUE(test::take_pages_away(bytes + kPage, kPage));
  for (int times = 0; times < 2; ++times) {
    EXPECT_FALSE(write_registered(place(bytes + kPage, Reach::kHost), bytes_));
    EXPECT_FALSE(read_registered(place(bytes + kPage, Reach::kHost), other_));
    EXPECT_FALSE(write_registered(place(bytes + kPage - 8, Reach::kHost), bytes_))
        << "also where only the end is missing";
    EXPECT_TRUE(write_registered(place(bytes, Reach::kHost), bytes_));
    EXPECT_TRUE(read_registered(place(bytes, Reach::kHost), other_));
    EXPECT_EQ(other_, bytes_) << "what is there is as before";
  }
  munmap(bytes, 2 * kPage);
}

TEST_F(RegisteredBytesTest, OfNoLengthAreThereWhereverTheyAre) {
  for (const Reach reach : {Reach::kHost, Reach::kNothing, Reach::kOnDemand}) {
    EXPECT_TRUE(write_registered(place(nullptr, reach), {}));
    EXPECT_TRUE(read_registered(place(nullptr, reach), {}));
  }
}

}  // namespace
}  // namespace gdr::rnic
