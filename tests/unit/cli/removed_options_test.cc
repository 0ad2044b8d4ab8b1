#include "cli/removed_options.h"

#include <gtest/gtest.h>

#include "cli/program.h"

namespace gdr::cli {
namespace {

using Words = std::vector<std::string>;

// "" if nothing is to be said.
std::string said_of(const Words& words) {
  const CommandLine line = split_command_line(words);
  const Program program(line);
  return removed_option(program.app, words, line.own.size()).value_or("");
}

TEST(RemovedOption, SaysWhereADocumentGoesNow) {
  EXPECT_EQ(said_of({"perf", "--json", "out.json"}),
            "gdr perf: --json takes no file; type: gdr perf --report out.json");
  EXPECT_EQ(said_of({"--color", "never", "perf", "--soft", "--json=runs/out"}),
            "gdr perf: --json takes no file; type: gdr perf --report runs/out.json");
  EXPECT_EQ(said_of({"perf", "--json", "-"}),
            "gdr perf: --json takes no file; type: gdr perf --json");
  EXPECT_EQ(said_of({"list", "--json=gpus"}),
            "gdr list: --json takes no file; type: gdr list --json > gpus");
}

TEST(RemovedOption, SaysSoBeforeTheFileIsTakenForAProgram) {
  EXPECT_EQ(said_of({"watch", "--json", "w.json", "--", "ls"}),
            "gdr watch: --json takes no file; type: gdr watch --report w.json");
  EXPECT_EQ(said_of({"nccl", "run", "--json", "n.json", "ls"}),
            "gdr nccl run: --json takes no file; type: gdr nccl run --report n.json");
}

TEST(RemovedOption, SaysWhatTookThePlaceOfEachOptionThatHadAFile) {
  EXPECT_EQ(said_of({"perf", "--csv", "rows"}),
            "gdr perf: there is no --csv; type: gdr perf --report rows.csv");
  EXPECT_EQ(said_of({"perf", "--html=a.b/page.html"}),
            "gdr perf: there is no --html; type: gdr perf --report a.b/page.html");
  for (const Words& words :
       {Words{"topo", "--svg"}, Words{"topo", "--svg", "-"}, Words{"topo", "--svg", "--tree"}}) {
    EXPECT_EQ(said_of(words), "gdr topo: there is no --svg; type: gdr topo --report topo.svg");
  }
}

TEST(RemovedOption, LeavesAloneWhatIsRight) {
  for (const Words& words :
       {Words{"perf", "--json", "node7"}, Words{"perf", "compare", "--json", "a.json", "b.json"},
        Words{"nccl", "check", "--json", "a.json"}, Words{"perf", "--", "--csv"},
        Words{"watch", "--json", "ls"}, Words{"watch", "ls", "--json", "a.json"},
        Words{"watch", "--", "ls", "--json=x"}, Words{"run", "--", "x", "--csv", "y"},
        Words{"topo", "--csv"}, Words{"perf", "--json"}, Words{}, Words{"--json", "x.json"}}) {
    EXPECT_EQ(said_of(words), "");
  }
}

}  // namespace
}  // namespace gdr::cli
