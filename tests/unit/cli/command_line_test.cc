#include "cli/command_line.h"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(split_command_line({"run"}).command.empty());
  EXPECT_TRUE(split_command_line({"run", "--"}).command.empty());
  EXPECT_EQ(split_command_line({"run", "--help"}).own, (Words{"run", "--help"}));
}

// Parses `words` with the subcommands run and nccl and returns the message, or "" if they were
// right.
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
            "--soft-gpu, --no-soft-gpu, --counters, --pcap, --faults, --packets");
}

TEST(UsageError, NamesAnOptionOfTheSoftwareNicThatIsGivenBesideTheRealOne) {
  for (const Words& option : {Words{"--pcap", "a"}, Words{"--counters", "a"},
                              Words{"--faults", "loss=1"}, Words{"--packets"}}) {
    Words words{"run", "--no-soft-nic"};
    words.insert(words.end(), option.begin(), option.end());
    EXPECT_EQ(message_for(words),
              "gdr run: --no-soft-nic excludes " + option[0] + "; see 'gdr run --help'");
  }
}

TEST(UsageError, NamesAnEmptyValue) {
  EXPECT_EQ(message_for({"run", "--pcap", ""}),
            "gdr run: --pcap: an empty value; give one or leave the option out; see 'gdr run "
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

TEST(Help, FitsEightyColumnsAndTellsDefaultsExitStatusAndEnvironment) {
  CLI::App program("", "gdr");
  program.formatter(std::make_shared<HelpFormatter>());
  Action chosen;
  add_prove(program, chosen);
  add_run(program, chosen, {});
  add_counters(program, chosen);
  add_nccl(program, chosen, {});
  CLI::App* nccl = program.get_subcommand("nccl");
  const std::vector<CLI::App*> commands = {
      program.get_subcommand("prove"),    program.get_subcommand("run"),
      program.get_subcommand("counters"), nccl,
      nccl->get_subcommand("check"),      nccl->get_subcommand("run")};
  for (const CLI::App* command : commands) {
    const std::string help = command->help();
    for (std::string_view line : split(help, '\n')) EXPECT_LE(line.size(), 80u) << line;
  }
  for (const char* name : {"prove", "run"}) {
    const std::string help = program.get_subcommand(name)->help();
    for (const char* words : {"(default:", "xit status", "GDR_SOFT_DEVICES", "GDR_SOFT_GPUS"}) {
      EXPECT_NE(help.find(words), std::string::npos) << words << " in\n" << help;
    }
  }
  EXPECT_NE(program.get_subcommand("run")->help().find("[OPTIONS] -- PROGRAM [ARGS...]"),
            std::string::npos);
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
