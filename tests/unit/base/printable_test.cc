#include "base/printable.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace gdr {
namespace {

std::string utf8(std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(Printable, HasNoControlCharacters) {
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a b c [2J ");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            " 31m")
      << "a control character of two bytes";
  EXPECT_EQ(printable("µ → 𝛑"), "µ → 𝛑");
}

TEST(Printable, IsUtf8) {
  EXPECT_EQ(printable("\xff\xc2"), "??");
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "longer than it needs to be";
  EXPECT_EQ(printable("\xe0\x80\xaf\xf0\x80\x80\xaf"), "???????");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80\xf5"), "?????") << "above U+10FFFF";
  EXPECT_EQ(printable("\xe2\x82"), "??") << "cut off";
}

TEST(Printable, ChangesNoDirectionAndHidesNothing) {
  EXPECT_EQ(printable("gnp.\u202eexe.txt\u202c"), "gnp.?exe.txt?");
  for (const std::uint32_t code :
       {0xadu,    0x34fu,   0x61cu,   0x115fu,  0x180eu,   0x200bu,  0x200du, 0x200eu,  0x200fu,
        0x202au,  0x202eu,  0x2060u,  0x2066u,  0x2069u,   0x206fu,  0x3164u, 0xe000u,  0xf8ffu,
        0xfdd0u,  0xfe0fu,  0xfeffu,  0xffa0u,  0xfff9u,   0xfffeu,  0xffffu, 0x1d173u, 0x1fffeu,
        0xe0001u, 0xe0061u, 0xe0100u, 0xf0000u, 0x10fffdu, 0x10ffffu}) {
    EXPECT_EQ(printable("a" + utf8(code) + "b"), "a?b") << std::hex << code;
  }
}

TEST(Printable, IsOneLine) {
  for (const std::uint32_t code : {0x0au, 0x0bu, 0x0cu, 0x0du, 0x85u, 0x2028u, 0x2029u}) {
    EXPECT_EQ(printable("a" + utf8(code) + "b"), "a b") << std::hex << code;
  }
}

TEST(Printable, LeavesScriptsOfTheWorldAsTheyAre) {
  for (const char* text :
       {"Zürich", "пароль", "שלום", "مرحبا", "日本語", "नमस्ते", "e\u0301", "━╌→…", "𝛑😀"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, IsTheSameOnceMore) {
  for (std::uint32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const std::string once = printable(utf8(code));
    ASSERT_FALSE(once.empty()) << std::hex << code;
    ASSERT_EQ(printable(once), once) << std::hex << code;
    ASSERT_TRUE(once == utf8(code) || once == "?" || once == " ") << std::hex << code;
  }
}

}  // namespace
}  // namespace gdr
