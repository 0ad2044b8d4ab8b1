#include "cli/command_line.h"

#include <gtest/gtest.h>

#include <map>

#include "base/environment.h"
#include "cli/help.h"
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
  CommandLine line = split_command_line(
      {"nccl", "run", "--expect", "any", "--tee", "--log=a", "--json", "b", "ls", "--log", "c"});
  EXPECT_EQ(line.own, (Words{"nccl", "run", "--expect", "any", "--tee", "--log=a", "--json", "b"}));
  EXPECT_EQ(line.command, (Words{"ls", "--log", "c"}));
  line = split_command_line({"nccl", "check", "--json", "--", "x"});
  EXPECT_EQ(line.own, (Words{"nccl", "check", "--json", "--", "x"}));
  EXPECT_TRUE(line.command.empty());
}

TEST(SplitCommandLine, FindsNoCommandWhereThereIsNone) {
  EXPECT_TRUE(split_command_line({}).own.empty());
  EXPECT_EQ(split_command_line({"watch", "--expect", "gdr", "ls", "--json", "x"}).own,
            (Words{"watch", "--expect", "gdr"}));
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

TEST(UsageError, NamesAnUnknownSubcommandAndThoseThereAre) {
  EXPECT_EQ(message_for({"rum"}), "gdr: unknown subcommand 'rum'; allowed: run, nccl");
  EXPECT_EQ(message_for({"nccl", "chek"}),
            "gdr nccl: unknown subcommand 'chek'; allowed: check, run");
}

TEST(UsageError, NamesAnUnknownOptionAndThoseOfItsSubcommand) {
  EXPECT_EQ(message_for({"run", "--soft"}),
            "gdr run: unknown option '--soft'; allowed: --help, --soft-nic, --no-soft-nic, "
            "--soft-gpu, --no-soft-gpu, --counters, --pcap, --faults, --packets, --presence, "
            "--rsockets, --quiet");
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

class Help : public testing::Test {
 protected:
  Help() {
    program_.formatter(std::make_shared<HelpFormatter>());
    add_prove(program_, chosen_);
    add_topo(program_, chosen_);
    add_list(program_, chosen_);
    add_doctor(program_, chosen_);
    add_fix(program_, chosen_);
    add_peermem(program_, chosen_);
    add_explain(program_, chosen_);
    add_perf(program_, chosen_, {});
    add_run(program_, chosen_, {});
    add_nccl(program_, chosen_, {});
    add_counters(program_, chosen_);
  }

  // The help of every subcommand for people, and of theirs, by full name.
  std::map<std::string, std::string> helps() const {
    std::map<std::string, std::string> all;
    for (const CLI::App* app : program_.get_subcommands([](auto* one) { return is_shown(one); })) {
      all[app->get_name()] = app->help();
      for (const CLI::App* nested : app->get_subcommands([](auto* one) { return is_shown(one); })) {
        all[app->get_name() + " " + nested->get_name()] = nested->help();
      }
    }
    return all;
  }
  static bool is_shown(const CLI::App* app) { return !app->get_group().empty(); }

  CLI::App program_{"", "gdr"};
  Action chosen_;
};

TEST_F(Help, OfEverySubcommandFitsEightyColumns) {
  EXPECT_EQ(helps().size(), 19u);
  for (const auto& [name, help] : helps()) {
    for (std::string_view line : split(help, '\n')) EXPECT_LE(line.size(), 80u) << name << line;
  }
}

TEST_F(Help, OfEverySubcommandEndsWithExamplesOfIt) {
  for (const auto& [name, help] : helps()) {
    const auto at = help.rfind("\nExamples:\n");
    ASSERT_NE(at, std::string::npos) << help;
    EXPECT_NE(help.find("gdr " + name, at), std::string::npos) << help;
    EXPECT_EQ(help.find("\n\n", at), std::string::npos) << "behind the examples of " << name;
  }
}

TEST_F(Help, SaysValuesInWordsAndNotAsCli11DescribesThem) {
  for (const auto& [name, help] : helps()) {
    for (const char* words :
         {"UINT", "INT in", "TEXT ...", ":{", "not empty", "host HOST", "\n\n\n"}) {
      EXPECT_EQ(help.find(words), std::string::npos) << words << " in\n" << help;
    }
  }
}

TEST_F(Help, TellsDefaultsExitStatusAndEnvironment) {
  for (const char* name : {"prove", "run"}) {
    const std::string help = helps()[name];
    for (const char* words : {"(default:", "xit status", "GDR_SOFT_DEVICES", "GDR_SOFT_GPUS"}) {
      EXPECT_NE(help.find(words), std::string::npos) << words << " in\n" << help;
    }
  }
}

TEST_F(Help, GroupsTheOptionsOfPerfAndNamesItsFourUses) {
  const std::string help = helps()["perf"];
  for (const char* words : {"\nCommon:\n", "\nLoad:\n", "\nPlacement:\n", "\nTime:\n",
                            "\nClient and server:\n", "Usage: gdr perf [OPTIONS]",
                            "gdr perf --server", "gdr perf HOST", "gdr perf compare BASE"}) {
    EXPECT_NE(help.find(words), std::string::npos) << words << " in\n" << help;
  }
  EXPECT_NE(helps()["run"].find("[OPTIONS] -- PROGRAM [ARGS...]"), std::string::npos);
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
