#include "ports/port_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "scratch_folder.h"

namespace gdr::ports {
namespace {

std::string text_of(std::uint64_t value) {
  char text[kMostValueText];
  return {text, value_text(value, text)};
}

TEST(PortText, IsDecimalWithANewLine) {
  EXPECT_EQ(text_of(0), "0\n");
  EXPECT_EQ(text_of(1203), "1203\n");
  EXPECT_EQ(text_of(~std::uint64_t{0}), "18446744073709551615\n");
}

TEST(PortText, ReplacesAFilesTextAndLeavesNothingBeside) {
  const test::ScratchFolder scratch;
  scratch.write("counters/symbol_error", "123456\n");
  const UniqueFd folder(open(scratch.root().c_str(), O_PATH | O_DIRECTORY));
  EXPECT_TRUE(write_value(folder.get(), "counters/symbol_error", 7));
  EXPECT_EQ(test::text_of_file(scratch.at("counters/symbol_error")), "7\n");
  EXPECT_FALSE(write_value(folder.get(), "none/symbol_error", 7));
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.root())) {
    entries += entry.is_regular_file();
  }
  EXPECT_EQ(entries, 1u);
}

TEST(PortText, IsNeverSeenInParts) {
  const test::ScratchFolder scratch;
  scratch.write("counters/x", "9\n");
  const UniqueFd folder(open(scratch.root().c_str(), O_PATH | O_DIRECTORY));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 4000; ++i) write_value(folder.get(), "counters/x", i % 2 ? 9 : 10'000'000);
    done.store(true);
  });
  while (!done.load()) {
    const std::string text = test::text_of_file(scratch.at("counters/x"));
    EXPECT_TRUE(text == "9\n" || text == "10000000\n") << text;
  }
  writer.join();
}

}  // namespace
}  // namespace gdr::ports
