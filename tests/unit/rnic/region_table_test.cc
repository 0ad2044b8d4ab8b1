#include "rnic/region_table.h"

#include <map>
#include <set>

#include "adapter_fixture.h"

namespace gdr::rnic {
namespace {

constexpr std::uint32_t kWrite = IBV_ACCESS_REMOTE_WRITE, kRead = IBV_ACCESS_REMOTE_READ,
                        kLocal = IBV_ACCESS_LOCAL_WRITE;
constexpr std::uint64_t kIova = 0x10'0000;

class RegionTableTest : public AdapterTest {
 protected:
  std::uint32_t add(std::uint32_t access, std::uint64_t iova = kIova) {
    auto key = adapter_->register_memory(
        reinterpret_cast<std::uint64_t>(bytes_),
        {.iova = iova, .length = sizeof bytes_, .access = access, .protection_domain = domain_});
    EXPECT_TRUE(key) << key.error().message;
    return *key;
  }
  // Both checks, the owner's and the one by other processes, must agree.
  RegionError find(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                   std::uint32_t rights, std::uint32_t domain) {
    Place place;
    RemoteRange range;
    const RegionError own = adapter_->regions().find(key, address, length, domain, rights, &place);
    const RegionError remote =
        find_remote(adapter_->segment(), key, address, length, domain, rights, &range);
    EXPECT_EQ(own, remote);
    if (own == RegionError::kNone) {
      EXPECT_EQ(place.address, reinterpret_cast<std::uint64_t>(bytes_) + (address - kIova));
      EXPECT_EQ(range.address, place.address);
    }
    return own;
  }
  RegionError find(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                   std::uint32_t rights = kWrite) {
    return find(key, address, length, rights, domain_);
  }

  alignas(4096) std::uint8_t bytes_[8192] = {};
};

// Few places, so that few pages are touched, and none soon again, so that a stale key finds
// nothing.
TEST_F(RegionTableTest, RegisteringAndDeregisteringGoesRoundFewPlacesAndComesBackToEachLate) {
  constexpr std::uint32_t kFew = 5000, kLate = 4000;
  std::map<std::uint32_t, std::uint32_t> used_at;  // by place
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const std::uint32_t key = add(kLocal);
    ASSERT_LT(index_of(key), kFew);
    const auto [place, is_new] = used_at.emplace(index_of(key), i);
    if (!is_new) {
      ASSERT_GT(i - place->second, kLate) << "place " << place->first;
    }
    place->second = i;
    ASSERT_TRUE(adapter_->deregister(key));
  }
}

TEST_F(RegionTableTest, KeysAreUniqueAndNotToBeGuessedFromOneAnother) {
  std::set<std::uint32_t> keys, differences, low;
  std::uint32_t last = 0;
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t key = add(kLocal | kWrite);
    EXPECT_NE(key, 0u);
    EXPECT_TRUE(keys.insert(key).second);
    differences.insert(key - last);
    low.insert(key & 0xffff);
    last = key;
  }
  EXPECT_GT(differences.size(), 480u);
  EXPECT_GT(low.size(), 480u);
}

TEST_F(RegionTableTest, FindsEveryRangeInsideAndNoneBeyond) {
  const std::uint32_t key = add(kLocal | kWrite);
  EXPECT_EQ(find(key, kIova, sizeof bytes_), RegionError::kNone);
  EXPECT_EQ(find(key, kIova + 8191, 1), RegionError::kNone);
  EXPECT_EQ(find(key, kIova - 1, 1), RegionError::kOutOfRange);
  EXPECT_EQ(find(key, kIova + 8192, 1), RegionError::kOutOfRange);
  EXPECT_EQ(find(key, kIova, 8193), RegionError::kOutOfRange);
  EXPECT_EQ(find(key, kIova + 1, 8192), RegionError::kOutOfRange);
}

TEST_F(RegionTableTest, RefusesLengthsThatWrap) {
  const std::uint32_t key = add(kLocal | kWrite);
  EXPECT_EQ(find(key, kIova + 1, ~std::uint64_t{0}), RegionError::kOutOfRange);
  EXPECT_EQ(find(key, ~std::uint64_t{0}, 2), RegionError::kOutOfRange);
  EXPECT_EQ(find(key, kIova, ~std::uint64_t{0} - kIova + 1), RegionError::kOutOfRange);
  const auto wraps = adapter_->register_memory(reinterpret_cast<std::uint64_t>(bytes_),
                                               {.iova = ~std::uint64_t{0} - 100,
                                                .length = 4096,
                                                .access = kLocal,
                                                .protection_domain = domain_});
  ASSERT_FALSE(wraps);
  EXPECT_EQ(wraps.error().code, EINVAL);
}

TEST_F(RegionTableTest, GrantsTheRightsItWasGivenAndTheOwnersReading) {
  const std::uint32_t key = add(kRead);
  EXPECT_EQ(find(key, kIova, 1, kRead), RegionError::kNone);
  EXPECT_EQ(find(key, kIova, 1, 0), RegionError::kNone);
  EXPECT_EQ(find(key, kIova, 1, kWrite), RegionError::kNoRight);
  EXPECT_EQ(find(key, kIova, 1, kLocal), RegionError::kNoRight);
  EXPECT_EQ(find(key, kIova, 1, IBV_ACCESS_REMOTE_ATOMIC), RegionError::kNoRight);
}

TEST_F(RegionTableTest, BelongsToItsProtectionDomainOnly) {
  const std::uint32_t key = add(kLocal | kWrite);
  EXPECT_EQ(find(key, kIova, 1, kWrite, adapter_->allocate_protection_domain()),
            RegionError::kWrongDomain);
}

TEST_F(RegionTableTest, KnowsNoKeyThatWasNeverIssued) {
  const std::uint32_t key = add(kLocal | kWrite);
  EXPECT_EQ(find(0, kIova, 1), RegionError::kUnknownKey);
  EXPECT_EQ(find(key ^ 1, kIova, 1), RegionError::kUnknownKey);
  EXPECT_EQ(find(key + 0x10000, kIova, 1), RegionError::kUnknownKey);
  EXPECT_EQ(find(~0u, kIova, 1), RegionError::kUnknownKey);
  EXPECT_EQ(adapter_->deregister(key ^ 1).error().code, EINVAL);
  EXPECT_EQ(adapter_->deregister(0).error().code, EINVAL);
}

TEST_F(RegionTableTest, KnowsNoKeyAfterItsDeregistration) {
  const std::uint32_t key = add(kLocal | kWrite);
  ASSERT_TRUE(adapter_->deregister(key));
  EXPECT_EQ(path_.settles, 1);  // it waited for this process's own copies
  EXPECT_EQ(find(key, kIova, 1), RegionError::kUnknownKey);
  EXPECT_EQ(adapter_->deregister(key).error().code, EINVAL);
}

TEST_F(RegionTableTest, AnOldKeyDoesNotFindTheRegionThatHasItsPlaceNow) {
  // All indices once, so that they are reused.
  std::vector<std::uint32_t> keys;
  for (std::uint32_t i = 0; i < kRegions; ++i) keys.push_back(add(kLocal | kWrite));
  EXPECT_EQ(adapter_
                ->register_memory(
                    reinterpret_cast<std::uint64_t>(bytes_),
                    {.iova = 0, .length = 1, .access = kLocal, .protection_domain = domain_})
                .error()
                .code,
            ENOMEM);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t old = keys[static_cast<std::size_t>(i) * 7];
    ASSERT_TRUE(adapter_->deregister(old));
    const std::uint32_t fresh = add(kLocal | kWrite);
    EXPECT_EQ(fresh >> 16, old >> 16);  // the same place
    same += fresh == old;
    if (fresh != old) {
      EXPECT_EQ(find(old, kIova, 1), RegionError::kUnknownKey);
    }
    EXPECT_EQ(find(fresh, kIova, 1), RegionError::kNone);
  }
  EXPECT_EQ(same, 0);
}

TEST_F(RegionTableTest, RefusesWhatNoRegionCanBe) {
  const auto error = [&](std::uint64_t length, std::uint32_t access) {
    auto key = adapter_->register_memory(
        reinterpret_cast<std::uint64_t>(bytes_),
        {.iova = 0, .length = length, .access = access, .protection_domain = domain_});
    return key ? 0 : key.error().code;
  };
  EXPECT_EQ(error(0, kLocal), EINVAL);
  EXPECT_EQ(error(4096, kWrite), EINVAL);  // remote write without local write
  EXPECT_EQ(error(4096, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
  EXPECT_EQ(error(4096, 1u << 15), EINVAL);
  EXPECT_EQ(error(~std::uint64_t{0}, kLocal), EINVAL);
  EXPECT_EQ(error(4096, kLocal), 0);
  const auto nowhere = adapter_->register_memory(
      0x1000, {.iova = 0, .length = 4096, .access = kLocal, .protection_domain = domain_});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, EFAULT);
}

}  // namespace
}  // namespace gdr::rnic
