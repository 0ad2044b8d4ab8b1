#include "cli/complete.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/environment.h"
#include "cli/app_tree.h"
#include "cli/program.h"
#include "cli/run_devices.h"
#include "scratch_folder.h"

namespace gdr::cli {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::vector<Candidate>& candidates) {
  Words words;
  for (const Candidate& one : candidates) words.push_back(one.word);
  return words;
}

Completion completed(const Words& typed) {
  static const Program program;
  return complete(program.app, typed);
}
Words offered(const Words& typed) { return words_of(completed(typed).candidates); }

bool offers(const Words& typed, const std::string& word) {
  const Words all = offered(typed);
  return std::find(all.begin(), all.end(), word) != all.end();
}

TEST(Complete, OffersSubcommandsWithWhatTheyDo) {
  EXPECT_EQ(offered({"do"}), Words{"doctor"});
  EXPECT_EQ(offered({"pe"}), (Words{"peermem", "perf"}));
  EXPECT_EQ(offered({"peermem", ""}), (Words{"status", "build", "install", "remove"}));
  EXPECT_NE(completed({"do"}).candidates.front().text.find("GPUDirect RDMA"), std::string::npos);
}

TEST(Complete, OffersNoWorkers) {
  EXPECT_EQ(offered({"prove-"}), Words{});
  EXPECT_EQ(offered({"__"}), Words{});
}

TEST(Complete, OffersLongAndShortOptionsThatHaveNotBeenGiven) {
  EXPECT_EQ(offered({"prove", "--so"}), Words{"--soft"});
  EXPECT_TRUE(offers({"doctor", "-"}, "-v"));
  EXPECT_TRUE(offers({"doctor", "-"}, "--all"));
  EXPECT_FALSE(offers({"doctor", "-v", "-"}, "--all"));
  EXPECT_TRUE(offers({"topo", "--lspci", "a", "--ls"}, "--lspci")) << "may be given twice";
}

TEST(Complete, OffersOptionsWhereNothingElseCanFollow) {
  EXPECT_TRUE(offers({"prove", ""}, "--require-hardware"));
  EXPECT_FALSE(offers({""}, "--version")) << "subcommands can";
}

TEST(Complete, OffersValuesBehindASpaceAndBehindAnEqualsSign) {
  EXPECT_EQ(offered({"prove", "--memory", ""}), (Words{"alloc", "vmm", "host"}));
  EXPECT_EQ(offered({"prove", "--memory=v"}), Words{"--memory=vmm"});
  EXPECT_EQ(offered({"--color", "al"}), Words{"always"});
  EXPECT_EQ(offered({"watch", "--expect", "g"}), Words{"gdr"});
  EXPECT_EQ(offered({"fabric", "--pattern", "b"}), (Words{"bisection", "by-leaf"}));
}

TEST(Complete, GoesOnWithAList) {
  EXPECT_EQ(offered({"prove", "--modes", "write,re"}), Words{"write,read"});
  EXPECT_EQ(offered({"perf", "--memory=gpu,s"}), Words{"--memory=gpu,staged"});
  EXPECT_FALSE(offers({"prove", "--modes", "write,"}, "write,write")) << "is taken already";
  EXPECT_EQ(offered({"prove", "--memory", "vmm,"}), Words{}) << "no list";
}

TEST(Complete, OffersChecksTopicsAndSymptoms) {
  EXPECT_TRUE(offers({"doctor", "--only", ""}, "locked-memory"));
  EXPECT_TRUE(offers({"fix", ""}, "peer-memory"));
  EXPECT_TRUE(offers({"fix", "acs", "r"}, "roce")) << "topics may be many";
  EXPECT_TRUE(offers({"explain", "--symptom", "mr-"}, "mr-bad-address"));
}

TEST(Complete, LeavesFilesAndFoldersToTheShell) {
  EXPECT_EQ(completed({"explain", ""}).also, Also::kFiles);
  EXPECT_EQ(completed({"explain", "a", ""}).also, Also::kNothing) << "takes one file";
  EXPECT_EQ(completed({"counters", "a", ""}).also, Also::kFiles) << "takes many";
  EXPECT_EQ(completed({"topo", "--report", ""}).also, Also::kFiles);
  EXPECT_EQ(completed({"topo", "--report="}).also, Also::kFiles);
  EXPECT_EQ(completed({"fix", "--journal", ""}).also, Also::kFolders);
  EXPECT_EQ(completed({"prove", "--sizes", ""}).also, Also::kNothing);
}

TEST(Complete, LeavesAProgramAndItsArgumentsToTheShell) {
  for (const auto& [typed, at] : std::vector<std::pair<Words, std::size_t>>{
           {{"run", "--", ""}, 2},
           {{"run", "--", "ls", "-"}, 2},
           {{"run", "ls", "--pcap", ""}, 1},
           {{"run", "--pcap", "x", "l"}, 3},
           {{"--color", "never", "watch", "ls"}, 3},
           {{"nccl", "run", "--tee", "--", "torchrun", "a"}, 4}}) {
    const Completion completion = completed(typed);
    EXPECT_EQ(completion.also, Also::kProgram) << typed.back();
    EXPECT_EQ(completion.program_at, at) << typed.back();
    EXPECT_TRUE(completion.candidates.empty());
  }
  EXPECT_TRUE(offers({"run", "--so"}, "--soft-nic")) << "before the program";
}

TEST(Complete, OffersTheWordsOfHelp) {
  EXPECT_EQ(offered({"help", "doctor", ""}), Words{"capture"});
  EXPECT_TRUE(offers({"help", ""}, "prove"));
  EXPECT_EQ(offered({"help", "nowhere", ""}), Words{});
}

TEST(Complete, OffersNothingBehindWordsThatItDoesNotKnow) {
  for (const Words& typed :
       {Words{}, Words{"nowhere", ""}, Words{"prove", "--nowhere", "--nowhere="},
        Words{"prove", "--nowhere=x"}, Words{"perf", "compare", "--", "--x"}}) {
    EXPECT_EQ(offered(typed), Words{});
  }
}

TEST(Complete, OffersNoNameThatAShellOrItsFunctionWouldRead) {
  Completion completion;
  for (const char* name : {"mlx5_0", "$(id)", "`id`", "a b", "a;id", "a\nid", "\x1b[2J", ":files",
                           ":program x[$(id)]", "~root", "=ls", "fffe:00:1f.0"}) {
    completion.candidates.push_back({name, "RDMA NIC"});
  }
  EXPECT_EQ(to_lines(completion), "mlx5_0\tRDMA NIC\nfffe:00:1f.0\tRDMA NIC\n");
}

TEST(Complete, PrintsALineForEachCandidate) {
  EXPECT_EQ(to_lines({{{"a", "first"}, {"b", ""}}, Also::kFiles, 0}), "a\tfirst\nb\n:files\n");
  EXPECT_EQ(to_lines({{}, Also::kProgram, 2}), ":program 2\n");
}

// The parser's complaint about a value; empty: none.
std::string problem_of(const ListedValues& listed, const std::string& value) {
  std::istringstream names(listed.command);
  Words words;
  for (std::string name; names >> name;) words.push_back(name);
  words.erase(words.begin());
  if (std::string_view(listed.option).starts_with("--")) words.emplace_back(listed.option);
  words.push_back(value);
  if (listed.command == std::string("gdr nccl check")) words.emplace_back("train.log");
  Program program({words, {"true"}});
  try {
    program.parse(words);
  } catch (const CLI::ParseError& error) {
    return usage_error(program.app, error);
  }
  return "";
}

// Judged when the command runs, by what the machine has, or by a list of numbers.
const std::set<std::string> kJudgedLater = {"--nic",    "--peer-nic", "--nics",
                                            "--gpu",    "--from-gpu", "--mtu",
                                            "--kernel", "--symptom",  "--presence"};

TEST(ListedValues, AreThoseThatTheParserAllows) {
  std::size_t compared = 0;
  for (const ListedValues& listed : all_listed_values()) {
    const Words words = words_of(listed.values());
    for (const std::string& word : words) {
      if (kJudgedLater.contains(listed.option)) continue;
      EXPECT_EQ(problem_of(listed, word), "") << listed.command << " " << listed.option;
    }
    const std::string message = problem_of(listed, "telepathy");
    const auto at = message.find("allowed: ");
    EXPECT_EQ(at == std::string::npos, kJudgedLater.contains(listed.option)) << message;
    if (at == std::string::npos) continue;
    ++compared;
    std::string allowed;
    for (const std::string& word : words) allowed += (allowed.empty() ? "" : ", ") + word;
    EXPECT_EQ(message.substr(at), "allowed: " + allowed + "; see '" + listed.command + " --help'");
  }
  EXPECT_GE(compared, 16u);
}

TEST(ListedValues, OfOptionsThatAreJudgedLaterAreTaken) {
  for (const Candidate& way : find_values("gdr run", "--presence")->values()) {
    EXPECT_TRUE(parse_show_by(way.word)) << way.word;
  }
  for (const Candidate& mtu : find_values("gdr perf", "--mtu")->values()) {
    EXPECT_EQ(problem_of(*find_values("gdr perf", "--mtu"), mtu.word), "");
  }
  EXPECT_NE(problem_of(*find_values("gdr perf", "--mtu"), "999"), "");
}

// Numbers, names of files, and what only its own words describe.
bool is_free(const std::string& option, const std::string& value) {
  static const std::set<std::string> kinds = {"FILE",    "DIR",     "PATH", "N",       "BYTES",
                                              "SECONDS", "TIME",    "PORT", "ADDRESS", "NODE",
                                              "SPEC",    "PERCENT", "SIZE", "COMMAND", "WORDS"};
  static const std::set<std::string> lists = {"--sizes", "--cpu", "--hosts"};
  return kinds.contains(value) || lists.contains(option);
}

void expect_all_listed(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || !takes_value(*option)) continue;
    const std::string name = option_names(*option).back();
    EXPECT_TRUE(is_free(name, value_name(*option)) || find_values(full_name(app), name) != nullptr)
        << full_name(app) << " " << name << " " << value_name(*option);
  }
  for (const CLI::App* below : shown_subcommands(app)) expect_all_listed(*below);
}

TEST(ListedValues, CoverEveryOptionThatHasSome) {
  const Program program;
  expect_all_listed(program.app);
  for (const ListedValues& listed : all_listed_values()) {
    std::istringstream names(listed.command);
    Words words;
    for (std::string name; names >> name;) words.push_back(name);
    words.erase(words.begin());
    const CLI::App* app = find_app(program.app, words);
    ASSERT_NE(app, nullptr) << listed.command;
    const auto options = app->get_options([&](const CLI::Option* one) {
      return one->get_name(false, true).find(listed.option) != std::string::npos ||
             one->get_name(true) == listed.option;
    });
    EXPECT_FALSE(options.empty()) << listed.command << " " << listed.option;
  }
}

TEST(DeviceNames, AreThoseOfTheMachine) {
  const test::ScratchFolder root;
  root.make("sys/class/infiniband/mlx5_1");
  root.make("sys/class/infiniband/mlx5_0");
  EXPECT_EQ(words_of(nic_names(root.root())), (Words{"mlx5_0", "mlx5_1"}));
}

TEST(DeviceNames, AreThoseOfTheStandInsWhereThereAreNone) {
  const test::ScratchFolder root;
  setenv("GDR_SOFT_DEVICES", "mlx5_7/ip=10.0.0.1,mlx5_8", 1);
  setenv("GDR_SOFT_GPUS", "3:16G", 1);
  EXPECT_EQ(words_of(nic_names(root.root())), (Words{"mlx5_7", "mlx5_8"}));
  EXPECT_EQ(words_of(gpu_names(root.root())), (Words{"0", "1", "2"}));
  unsetenv("GDR_SOFT_DEVICES");
  unsetenv("GDR_SOFT_GPUS");
  EXPECT_EQ(words_of(nic_names(root.root())), (Words{"soft0", "soft1"}));
  EXPECT_EQ(words_of(gpu_names(root.root())), (Words{"0", "1"}));
}

}  // namespace
}  // namespace gdr::cli
