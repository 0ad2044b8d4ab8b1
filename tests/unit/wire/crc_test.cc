#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>

#include "ip_packet.h"

namespace gdr::wire {
namespace {

constexpr std::size_t kLongest = 4200;
constexpr std::size_t kAlignments = 64;

Bytes random_bytes(std::size_t count, std::mt19937& random) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Crc, TableIsThePolynomialABitAtATime) {
  std::mt19937 random(1);
  const Bytes bytes = random_bytes(300, random);
  for (std::size_t count = 0; count <= bytes.size(); ++count) {
    const std::uint32_t state = random();
    EXPECT_EQ(crc_versions().front().update(state, bytes.data(), count),
              slow_crc(state, std::span(bytes).first(count)))
        << count << " bytes";
  }
}

TEST(Crc, AllVersionsAgreeAtEveryLength) {
  std::mt19937 random(2);
  const Bytes bytes = random_bytes(kLongest + kAlignments, random);
  for (const CrcVersion& version : crc_versions()) {
    for (std::size_t count = 0; count <= kLongest; ++count) {
      const std::byte* from = bytes.data() + random() % kAlignments;
      const std::uint32_t state = random();
      ASSERT_EQ(version.update(state, from, count),
                crc_versions().front().update(state, from, count))
          << version.name << ", " << count << " bytes";
    }
  }
}

TEST(Crc, AllVersionsAgreeAtEveryAlignment) {
  std::mt19937 random(3);
  const Bytes bytes = random_bytes(kLongest + kAlignments, random);
  for (const CrcVersion& version : crc_versions()) {
    for (std::size_t offset = 0; offset < kAlignments; ++offset) {
      for (const std::size_t count : {3, 15, 31, 52, 127, 128, 255, 256, 400, 511, 1040, 4096}) {
        const std::uint32_t state = random();
        ASSERT_EQ(version.update(state, bytes.data() + offset, count),
                  crc_versions().front().update(state, bytes.data() + offset, count))
            << version.name << ", " << count << " bytes at " << offset;
      }
    }
  }
}

// Each input in an allocation of just its size: the address sanitizer sees a byte too far.
// A page between two that cannot be read: who reads outside is ended.
TEST(Crc, ReadsNoByteOutsideItsInput) {
  constexpr std::size_t kPage = 4096;
  void* const pages = mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  std::byte* const page = static_cast<std::byte*>(pages) + kPage;
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE), 0);
  std::mt19937 random(4);
  for (const CrcVersion& version : crc_versions()) {
    for (std::size_t count = 0; count <= 600; ++count) {
      const Bytes bytes = random_bytes(count, random);
      for (std::byte* const at : {page, page + kPage - count}) {
        if (count != 0) std::memcpy(at, bytes.data(), count);
        ASSERT_EQ(version.update(1, at, count), slow_crc(1, bytes));
      }
    }
  }
  munmap(pages, 3 * kPage);
}

TEST(Crc, PiecesGiveWhatTheWholeGives) {
  std::mt19937 random(5);
  const Bytes bytes = random_bytes(2000, random);
  for (const CrcVersion& version : crc_versions()) {
    for (int round = 0; round < 2000; ++round) {
      const std::size_t first = random() % bytes.size();
      const std::uint32_t between = version.update(7, bytes.data(), first);
      ASSERT_EQ(version.update(between, bytes.data() + first, bytes.size() - first),
                version.update(7, bytes.data(), bytes.size()))
          << version.name << ", cut at " << first;
    }
  }
}

TEST(Crc, OfFourWordsIsThatOfTheirBytes) {
  std::mt19937_64 random(7);
  for (const CrcVersion& version : crc_versions()) {
    for (int round = 0; round < 1000; ++round) {
      const std::uint64_t words[] = {random(), random(), random(), random()};
      ASSERT_EQ(
          version.of_32(words[0], words[1], words[2], words[3]),
          crc_versions().front().update(0, reinterpret_cast<const std::byte*>(words), sizeof words))
          << version.name;
    }
  }
}

TEST(Crc, UsesTheFastestVersion) {
  std::mt19937 random(6);
  const Bytes bytes = random_bytes(kLongest, random);
  ASSERT_FALSE(crc_versions().empty());
  EXPECT_STREQ(crc_versions().front().name, "table");
  EXPECT_EQ(crc_update(9, bytes.data(), bytes.size()),
            crc_versions().back().update(9, bytes.data(), bytes.size()));
  std::string names;
  for (const CrcVersion& version : crc_versions()) names += std::string(" ") + version.name;
  RecordProperty("versions", names);
#if defined(__x86_64__)
  if (crc_versions().size() < 3) GTEST_SKIP() << "this processor runs only:" << names;
#endif
}

}  // namespace
}  // namespace gdr::wire
