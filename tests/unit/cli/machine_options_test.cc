#include "cli/machine_options.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace gdr::cli {
namespace {

// What a command line with these words gives; nothing where it is wrong use.
std::optional<MachineOptions> parsed(const std::vector<std::string>& words) {
  CLI::App app("gdr");
  MachineOptions options;
  add_machine_options(app, options);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    return std::nullopt;
  }
  return options;
}

TEST(MachineOptions, MeanThisMachineWhereNoneIsGiven) {
  const auto options = parsed({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->root, "/");
  EXPECT_TRUE(options->hwloc_xml.empty() && options->nccl_xml.empty() && options->lspci.empty());
}

TEST(MachineOptions, TakeLspciTwice) {
  const auto options = parsed({"--lspci", "tree.txt", "--lspci", "verbose.txt"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->lspci, (std::vector<std::string>{"tree.txt", "verbose.txt"}));
}

TEST(MachineOptions, RefuseTwoKindsOfDescription) {
  EXPECT_FALSE(parsed({"--root", "/captured", "--lspci", "verbose.txt"}));
  EXPECT_FALSE(parsed({"--hwloc-xml", "a.xml", "--nccl-xml", "b.xml"}));
}

TEST(ReadMachine, NamesTheFolderThatIsNotThere) {
  MachineOptions options;
  options.root = "/no/such/folder";
  const auto inventory = read_machine(options);
  ASSERT_FALSE(inventory);
  EXPECT_EQ(inventory.error().code, EINVAL);
  EXPECT_NE(inventory.error().message.find("/no/such/folder"), std::string::npos);
}

TEST(ReadMachine, ReadsACapturedRoot) {
  MachineOptions options;
  options.root = std::filesystem::temp_directory_path();
  const auto inventory = read_machine(options);
  ASSERT_TRUE(inventory);
  EXPECT_TRUE(inventory->gpus.empty());
}

}  // namespace
}  // namespace gdr::cli
