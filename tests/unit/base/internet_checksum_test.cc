#include "base/internet_checksum.h"

#include <gtest/gtest.h>

namespace gdr {
namespace {

constexpr std::uint8_t kExample[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

TEST(InternetChecksum, MatchesTheExampleOfRfc1071) {
  EXPECT_EQ(internet_checksum(std::as_bytes(std::span(kExample))),
            static_cast<std::uint16_t>(~0xddf2));
}

TEST(InternetChecksum, MayBeBegunBefore) {
  const auto bytes = std::as_bytes(std::span(kExample));
  EXPECT_EQ(internet_checksum(bytes.subspan(4), sum_words(bytes.first(4))),
            internet_checksum(bytes));
}

TEST(InternetChecksum, OfAnOddLastByteIsThatOfItAndAZero) {
  const std::uint8_t odd[] = {0x12, 0x34, 0x56}, even[] = {0x12, 0x34, 0x56, 0x00};
  EXPECT_EQ(internet_checksum(std::as_bytes(std::span(odd))),
            internet_checksum(std::as_bytes(std::span(even))));
}

}  // namespace
}  // namespace gdr
