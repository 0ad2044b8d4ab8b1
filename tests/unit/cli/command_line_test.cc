#include "cli/command_line.h"

#include <gtest/gtest.h>

#include "cli/subcommands.h"

namespace gdr::cli {
namespace {

using Words = std::vector<std::string>;

TEST(SplitCommandLine, LeavesOtherSubcommandsWhole) {
  const CommandLine line = split_command_line({"prove", "--json", "--", "x"});
  EXPECT_EQ(line.own, (Words{"prove", "--json", "--", "x"}));
  EXPECT_TRUE(line.command.empty());
}

TEST(SplitCommandLine, CutsTheCommandOffAtTheFirstDashes) {
  const CommandLine line =
      split_command_line({"run", "--soft-nic", "--", "perf", "-a", "--", "--help"});
  EXPECT_EQ(line.own, (Words{"run", "--soft-nic"}));
  EXPECT_EQ(line.command, (Words{"perf", "-a", "--", "--help"}));
}

TEST(SplitCommandLine, CutsTheCommandOffAtTheFirstWordThatIsNoOption) {
  const CommandLine line = split_command_line({"run", "--soft-nic", "ls", "--soft-gpu"});
  EXPECT_EQ(line.own, (Words{"run", "--soft-nic"}));
  EXPECT_EQ(line.command, (Words{"ls", "--soft-gpu"}));
}

TEST(SplitCommandLine, LeavesAnOptionItsValue) {
  const CommandLine line = split_command_line({"run", "--pcap", "a", "--packets", "--counters=b",
                                               "--faults", "loss=0", "ls", "--pcap", "c"});
  EXPECT_EQ(line.own,
            (Words{"run", "--pcap", "a", "--packets", "--counters=b", "--faults", "loss=0"}));
  EXPECT_EQ(line.command, (Words{"ls", "--pcap", "c"}));
}

TEST(SplitCommandLine, TakesTheDashesForTheEndAndNotForAValue) {
  const CommandLine line = split_command_line({"run", "--pcap", "--", "ls"});
  EXPECT_EQ(line.own, (Words{"run", "--pcap"}));
  EXPECT_EQ(line.command, (Words{"ls"}));
}

TEST(SplitCommandLine, CutsTheCommandOffBehindTheOptionsOfNcclRun) {
  CommandLine line = split_command_line({"nccl", "run", "--expect", "any", "--tee", "--log=a",
                                         "--report", "b", "--json", "ls", "--log", "c"});
  EXPECT_EQ(line.own, (Words{"nccl", "run", "--expect", "any", "--tee", "--log=a", "--report", "b",
                             "--json"}));
  EXPECT_EQ(line.command, (Words{"ls", "--log", "c"}));
  line = split_command_line({"nccl", "check", "--json", "--", "x"});
  EXPECT_EQ(line.own, (Words{"nccl", "check", "--json", "--", "x"}));
  EXPECT_TRUE(line.command.empty());
}

TEST(SplitCommandLine, FindsTheCommandBehindColoursInFrontOfTheSubcommand) {
  for (const Words& colour : {Words{"--color", "never"}, Words{"--color=never"}}) {
    Words words = colour;
    for (const char* word : {"nccl", "run", "--color", "auto", "ls", "--color"}) {
      words.emplace_back(word);
    }
    const CommandLine line = split_command_line(words);
    EXPECT_EQ(line.command, (Words{"ls", "--color"}));
    EXPECT_EQ(line.own.back(), "auto");
  }
  EXPECT_TRUE(split_command_line({"--color"}).command.empty());
}

TEST(SplitCommandLine, FindsNoCommandWhereThereIsNone) {
  EXPECT_TRUE(split_command_line({}).own.empty());
  EXPECT_EQ(split_command_line({"watch", "--expect", "gdr", "--json", "ls", "--report", "x"}).own,
            (Words{"watch", "--expect", "gdr", "--json"}));
  EXPECT_TRUE(split_command_line({"run"}).command.empty());
  EXPECT_TRUE(split_command_line({"run", "--"}).command.empty());
  EXPECT_EQ(split_command_line({"run", "--help"}).own, (Words{"run", "--help"}));
}

// The error message for `words`, or "" if they are right.
std::string message_for(Words words) {
  CLI::App program("", "gdr");
  Action chosen;
  add_run(program, chosen, {"true"});
  add_nccl(program, chosen, {"true"});
  program.add_subcommand("worker", "started by another command")->group("");
  std::reverse(words.begin(), words.end());
  try {
    program.parse(words);
  } catch (const CLI::ParseError& error) {
    return usage_error(program, error);
  }
  return "";
}

TEST(UsageError, NamesTheSubcommandThatWasMeant) {
  EXPECT_EQ(message_for({"rum"}), "gdr: unknown subcommand 'rum'; did you mean 'gdr run'?");
  EXPECT_EQ(message_for({"nccl", "chek"}),
            "gdr nccl: unknown subcommand 'chek'; did you mean 'gdr nccl check'?");
}

TEST(UsageError, NamesTheSubcommandBehindAnotherOne) {
  EXPECT_EQ(message_for({"check"}),
            "gdr: unknown subcommand 'check'; did you mean 'gdr nccl check'?");
}

TEST(UsageError, NamesAllSubcommandsWhereNoneIsNear) {
  EXPECT_EQ(message_for({"telepathy"}), "gdr: unknown subcommand 'telepathy'; allowed: run, nccl");
}

TEST(UsageError, NamesTheOptionsThatWereMeant) {
  EXPECT_EQ(message_for({"run", "--soft"}),
            "gdr run: unknown option '--soft'; did you mean '--soft-nic' or '--soft-gpu'?");
  EXPECT_EQ(message_for({"run", "--cuonters=x"}),
            "gdr run: unknown option '--cuonters=x'; did you mean '--counters'?");
}

TEST(UsageError, NamesAllOptionsOfTheSubcommandWhereNoneIsNear) {
  EXPECT_EQ(
      message_for({"run", "--telepathy"}),
      "gdr run: unknown option '--telepathy'; allowed: --help, --soft-nic, --no-soft-nic, "
      "--soft-gpu, --no-soft-gpu, --counters, --pcap, --faults, --packets, --presence, --quiet");
}

TEST(UsageError, IsAskedForWhereHelpIsWantedOfNothing) {
  CLI::App program("", "gdr");
  Action chosen;
  add_run(program, chosen, {"true"});
  try {
    program.parse(Words{"--help", "rum"});
    FAIL();
  } catch (const CLI::ParseError& error) {
    EXPECT_EQ(error.get_exit_code(), 0);
    EXPECT_TRUE(has_unknown_subcommand(program));
  }
}

TEST(UsageError, NamesAnOptionOfTheSoftwareNicThatIsGivenBesideTheRealOne) {
  for (const Words& option : {Words{"--pcap", "a"}, Words{"--counters", "a"},
                              Words{"--faults", "loss=1"}, Words{"--packets"}}) {
    Words words{"run", "--no-soft-nic"};
    words.insert(words.end(), option.begin(), option.end());
    EXPECT_EQ(message_for(words), "gdr run: --no-soft-nic and " + option[0] +
                                      " exclude each other; see 'gdr run --help'");
  }
}

TEST(UsageError, NamesAnEmptyValue) {
  EXPECT_EQ(message_for({"run", "--pcap", ""}),
            "gdr run: --pcap: the value is empty; give one or leave the option out; see 'gdr run "
            "--help'");
}

TEST(UsageError, NamesSwitchesThatContradictEachOther) {
  for (const char* part : {"nic", "gpu"}) {
    const std::string yes = std::string("--soft-") + part, no = std::string("--no-soft-") + part;
    for (const Words& words : {Words{"run", yes, no}, Words{"run", no, yes}}) {
      const std::string message = message_for(words);
      EXPECT_NE(message.find(yes), std::string::npos) << message;
      EXPECT_NE(message.find(no), std::string::npos) << message;
    }
  }
  EXPECT_EQ(message_for({"run", "--soft-nic", "--no-soft-gpu"}), "");
}

TEST(UsageError, IsOneLine) {
  EXPECT_EQ(message_for({"run", "--soft-nic=maybe"}).find('\n'), std::string::npos);
}

TEST(UsageError, SaysWhatAValueMustBe) {
  EXPECT_EQ(message_for({"run", "--pcap"}), "gdr run: --pcap needs a value; see 'gdr run --help'");
  EXPECT_EQ(message_for({"nccl", "check", "--expect", "any", "--expect", "local", "x"}),
            "gdr nccl check: --expect may be given only once; see 'gdr nccl check --help'");
}

TEST(Run, ChoosesItsActionOnlyAfterTheWholeLineWasRight) {
  CLI::App program("", "gdr");
  Action chosen;
  add_run(program, chosen, {"true"});
  EXPECT_THROW(program.parse(Words{"--wrong", "run"}), CLI::ParseError);
  program.parse(Words{"--soft-gpu", "run"});
  EXPECT_TRUE(static_cast<bool>(chosen));
}

}  // namespace
}  // namespace gdr::cli
