#include "text/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/printable.h"

namespace gdr::text {
namespace {

using nlohmann::ordered_json;

TEST(JsonText, EscapesWhatMovesACursorTurnsTheWritingOrShowsNothing) {
  const ordered_json document = {"\x1b[2J", "\x7f",
                                 "\xc2\x9b"
                                 "31m",
                                 "\xe2\x80\xae"};
  EXPECT_EQ(json_text(document, -1), R"(["\u001b[2J","\u007f","\u009b31m","\u202e"])");
}

TEST(JsonText, EscapesNamesOfMembersToo) {
  EXPECT_EQ(json_text({{"\xc2\x9b", 1}}, -1), R"({"\u009b":1})");
}

TEST(JsonText, WritesTagsBeyondTheFirstPlaneAsTwoSurrogates) {
  EXPECT_EQ(json_text(ordered_json("\U000e0041"), -1), R"("\udb40\udc41")");
}

TEST(JsonText, LeavesLettersOfAllAlphabetsReadable) {
  const char* letters = "Zürich 東京 Ελλάδα \U0001d54f";
  EXPECT_EQ(json_text(ordered_json(letters), -1), '"' + std::string(letters) + '"');
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(json_text(ordered_json("a\xff"
                                   "b\xe2\x80"),
                      -1),
            "\"a\ufffd"
            "b\ufffd\"");
}

TEST(JsonText, IsTheSameValueAndPrintableWhateverTheText) {
  std::string all;
  for (char32_t code = 1; code <= 0x10ffff; code += code < 0x3100 ? 1 : 61) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    if (code < 0x80) {
      all += static_cast<char>(code);
    } else {
      if (code < 0x800) {
        all += static_cast<char>(0xc0 | code >> 6);
      } else {
        all += static_cast<char>(code < 0x10000 ? 0xe0 | code >> 12 : 0xf0 | code >> 18);
        if (code >= 0x10000) all += static_cast<char>(0x80 | (code >> 12 & 0x3f));
        all += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      }
      all += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  const std::string text = json_text(ordered_json(all), -1);
  EXPECT_EQ(ordered_json::parse(text), all);
  EXPECT_EQ(printable(text), text);
}

}  // namespace
}  // namespace gdr::text
