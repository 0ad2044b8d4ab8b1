#include "cli/perftest.h"

#include <gtest/gtest.h>

#include "cli/perftest_options.h"
#include "cli/program.h"

namespace gdr::cli {
namespace {

using Words = std::vector<std::string>;

Words typed_words(const Words& typed) {
  const Result<FromPerftest> read = from_perftest(typed);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? read->words : Words{};
}

std::string refusal_of(const Words& typed) {
  const Result<FromPerftest> read = from_perftest(typed);
  return read ? "" : read.error().message;
}

// The parser's complaint about translated words; "" if it takes them.
std::string problem_with(Words words) {
  words.insert(words.begin(), "perf");
  Program program;
  try {
    program.parse(words);
  } catch (const CLI::ParseError& error) {
    return usage_error(program.app, error);
  }
  return "";
}

TEST(FromPerftest, LeavesOurOwnOptionsAlone) {
  for (const Words& own :
       {Words{"--nic", "mlx5_0", "node7"}, Words{"-h"}, Words{"--json"}, Words{},
        Words{"compare", "-a", "b"}, Words{"--port", "1", "--", "-d"}, Words{"-Z", "3"}}) {
    const Result<FromPerftest> read = from_perftest(own);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->words, own);
    EXPECT_TRUE(read->notes.empty());
  }
}

TEST(FromPerftest, TakesAValueBehindASpaceAndWithoutOne) {
  EXPECT_EQ(typed_words({"-s", "65536"}), (Words{"--sizes", "65536"}));
  EXPECT_EQ(typed_words({"-s65536"}), (Words{"--sizes", "65536"}));
  EXPECT_EQ(typed_words({"--size", "64"}), (Words{"--sizes", "64"}));
  EXPECT_EQ(typed_words({"--size=64"}), (Words{"--sizes", "64"}));
}

TEST(FromPerftest, TakesLettersThatStandTogether) {
  EXPECT_EQ(typed_words({"-aRFs64"}), (Words{"--sizes", "2-8M", "--rdma-cm", "--sizes", "64"}));
}

TEST(FromPerftest, NamesAPortTogetherWithItsDevice) {
  EXPECT_EQ(typed_words({"-d", "mlx5_0"}), (Words{"--nic", "mlx5_0"}));
  EXPECT_EQ(typed_words({"-i", "2", "-d", "mlx5_0", "node7"}),
            (Words{"node7", "--nic", "mlx5_0:2"}));
  EXPECT_EQ(refusal_of({"-i", "2"}), "-i 2 needs -d NAME, which make --nic NAME:2");
}

TEST(FromPerftest, TakesTheFirstGpuWhereNoneIsNamed) {
  EXPECT_EQ(typed_words({"--use_cuda=1"}), (Words{"--memory", "gpu", "--gpu", "1"}));
  EXPECT_EQ(typed_words({"--use_cuda", "1"}), (Words{"--memory", "gpu", "--gpu", "1"}));
  EXPECT_EQ(typed_words({"--use_cuda", "node7"}), (Words{"--memory", "gpu", "node7"}));
  EXPECT_EQ(typed_words({"--use_cuda", "--use_cuda_dmabuf"}),
            (Words{"--memory", "gpu", "--registration", "dma-buf"}));
}

TEST(FromPerftest, SaysOfEachOptionWhatItIsCalledHere) {
  const Result<FromPerftest> read =
      from_perftest({"-x", "3", "-F", "-d", "mlx5_0", "-i", "1", "--use_cuda=0", "-R"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->notes, (Words{"-x 3 is --gid-index 3 here",
                                "-F is not needed: the clock does not follow the processor's speed",
                                "--use_cuda=0 is --memory gpu --gpu 0 here", "-R is --rdma-cm here",
                                "-d mlx5_0 -i 1 is --nic mlx5_0:1 here"}));
}

TEST(FromPerftest, SaysWhatIsMissing) {
  EXPECT_EQ(refusal_of({"-d"}), "-d needs a value");
  EXPECT_EQ(refusal_of({"-d", "-x", "3"}), "-d needs a value");
  EXPECT_EQ(refusal_of({"-z"}), "perftest's -z is not there: the two sides talk over TCP");
}

TEST(FromPerftest, LeavesWrongValuesToTheOptionThatReadsThem) {
  EXPECT_NE(problem_with(typed_words({"-x", "999"})).find("--gid-index"), std::string::npos);
  EXPECT_NE(problem_with(typed_words({"-s", "lots"})).find("wrong size 'lots'"), std::string::npos);
  EXPECT_NE(problem_with(typed_words({"-c", "DC"})).find("unknown --transport 'dc'"),
            std::string::npos);
  EXPECT_NE(problem_with(typed_words({"-q", "many"})).find("--queue-pairs must be"),
            std::string::npos);
}

// A value that our option takes.
std::string value_for(const PerftestOption& option) {
  const std::string value = option.value, ours = option.ours;
  if (value == "TYPE") return "RC";
  if (value == "FILE") return "x.json";
  if (value == "DEVICE") return "mlx5_0";
  if (ours == "--mtu") return "1024";
  return ours == "--listen" ? "any" : "1";
}

TEST(FromPerftest, BecomesOptionsThatTheParserKnows) {
  std::size_t count = 0;
  for (const PerftestOption& option : perftest_options()) {
    if (option.kind == PerftestOption::Kind::kRefused) continue;
    ++count;
    for (const std::string& name :
         {option.letter ? std::string("-") + option.letter : "", std::string("--") + option.name}) {
      if (name.size() < 2 || name == "--") continue;
      Words typed{name};
      if (takes_value(option)) typed.push_back(value_for(option));
      if (option.kind == PerftestOption::Kind::kPort) typed.insert(typed.end(), {"-d", "mlx5_0"});
      if (std::string(option.ours) == "--listen") typed.emplace_back("--server");
      EXPECT_EQ(problem_with(typed_words(typed)), "") << name;
    }
  }
  EXPECT_GE(count, 30u);
  EXPECT_EQ(perftest_aliases().options.size(), count);
}

}  // namespace
}  // namespace gdr::cli
