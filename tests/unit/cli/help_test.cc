// What --help shows of every subcommand, and that its examples are right.
#include "cli/help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/environment.h"
#include "cli/app_tree.h"
#include "cli/help_command.h"
#include "cli/program.h"
#include "manual/page.h"

namespace gdr::cli {
namespace {

using Words = std::vector<std::string>;

void add_helps(const CLI::App& app, std::map<std::string, std::string>& all) {
  all[full_name(app)] = app.help();
  for (const CLI::App* below : shown_subcommands(app)) add_helps(*below, all);
}

// By full name.
const std::map<std::string, std::string>& helps() {
  static const Program program;
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> found;
    add_helps(program.app, found);
    return found;
  }();
  return all;
}

// The commands of a line of shell: "lspci > x; sudo gdr topo" -> {"lspci", ...}, {"gdr", "topo"}.
std::vector<Words> commands_of(std::string_view line) {
  std::vector<Words> commands(1);
  std::string word;
  bool quoted = false, begun = false;
  const auto end_word = [&] {
    if (begun) commands.back().push_back(word);
    word.clear();
    begun = false;
  };
  for (const char one : line) {
    if (one == '"') {
      quoted = !quoted;
      begun = true;
    } else if (!quoted && one == ' ') {
      end_word();
    } else if (!quoted && (one == ';' || one == '|')) {
      end_word();
      commands.emplace_back();
    } else {
      word += one;
      begun = true;
    }
  }
  end_word();
  for (Words& words : commands) {
    if (words.size() > 1 && (words.front() == "sudo" || words.front() == "watch")) {
      words.erase(words.begin());
    } else if (words.size() > 1 && (words.front() == "srun" || words.front() == "mpirun")) {
      words.erase(words.begin(), std::find(words.begin(), words.end(), "gdr"));
    }
  }
  return commands;
}

// What is wrong with the words behind "gdr"; "" if nothing is.
std::string problem_of(const Words& words) {
  const CommandLine line = split_command_line(words);
  Program program(line);
  try {
    const Result<Words> asked = without_help(program.app, line.own);
    if (!asked) return asked.error().message;
    program.parse(*asked);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return "";  // --help, --version
    return usage_error(program.app, error);
  }
  return program.chosen ? "" : "nothing was chosen";
}

TEST(Help, IsThereForEverySubcommand) {
  EXPECT_EQ(helps().size(), 28u);
  for (const auto& [name, help] : helps()) {
    EXPECT_NE(manual::find_page(name), nullptr) << name;
    EXPECT_NE(help.find("Usage: " + name.substr(0, 3)), std::string::npos) << help;
  }
  EXPECT_EQ(manual::all_pages().size(), helps().size());
}

TEST(Help, FitsEightyColumns) {
  for (const auto& [name, help] : helps()) {
    for (std::string_view line : split(help, '\n')) EXPECT_LE(line.size(), 80u) << name << line;
  }
}

TEST(Help, EndsWithTwoToFourExamplesOfTheSubcommand) {
  for (const auto& [name, help] : helps()) {
    const auto at = help.rfind("\nExamples:\n");
    ASSERT_NE(at, std::string::npos) << help;
    EXPECT_NE(help.find(name, at), std::string::npos) << help;
    EXPECT_EQ(help.find("\n\n", at + 1), std::string::npos) << "behind the examples of " << name;
    const std::size_t count = manual::find_page(name)->examples.size();
    EXPECT_GE(count, 2u) << name;
    EXPECT_LE(count, 4u) << name;
  }
}

TEST(Help, HasExamplesThatTheParserTakes) {
  std::size_t count = 0;
  for (const manual::Page& page : manual::all_pages()) {
    for (const manual::Example& example : page.examples) {
      bool any = false;
      for (const Words& words : commands_of(example.command)) {
        if (words.empty() || words.front() != "gdr") continue;
        any = true;
        ++count;
        const std::string problem = problem_of({words.begin() + 1, words.end()});
        // That folder is another machine's.
        if (problem.find("--driver-root /run/nvidia/driver: no such folder") != std::string::npos) {
          continue;
        }
        EXPECT_EQ(problem, "") << example.command;
      }
      EXPECT_TRUE(any) << example.command;
    }
  }
  EXPECT_GE(count, 60u);
}

TEST(Help, TestsItsExamplesWithAParserThatRefusesWrongOnes) {
  EXPECT_NE(problem_of({"prove", "--modes", "telepathy"}), "");
  EXPECT_NE(problem_of({"run", "--pcap", "x"}), "");
  EXPECT_EQ(commands_of("sudo dmesg | gdr explain \"a b\""),
            (std::vector<Words>{{"dmesg"}, {"gdr", "explain", "a b"}}));
  EXPECT_EQ(commands_of("srun -N2 gdr fabric --json"),
            (std::vector<Words>{{"gdr", "fabric", "--json"}}));
}

TEST(Help, SaysValuesInWordsAndNotAsCli11DescribesThem) {
  for (const auto& [name, help] : helps()) {
    for (const char* words :
         {"UINT", "INT in", "TEXT ...", ":{", "not empty", "host HOST", "\n\n\n"}) {
      EXPECT_EQ(help.find(words), std::string::npos) << words << " in\n" << help;
    }
  }
}

TEST(Help, TellsDefaultsExitStatusAndEnvironment) {
  for (const char* name : {"gdr prove", "gdr run"}) {
    const std::string& help = helps().at(name);
    for (const char* words : {"(default:", "Exit status:", "GDR_SOFT_DEVICES", "GDR_SOFT_GPUS"}) {
      EXPECT_NE(help.find(words), std::string::npos) << words << " in\n" << help;
    }
  }
}

TEST(Help, OffersColoursEverywhere) {
  for (const auto& [name, help] : helps()) {
    EXPECT_NE(help.find("  --color WHEN "), std::string::npos) << help;
  }
}

TEST(Help, GroupsTheOptionsOfPerfAndNamesItsFourUses) {
  const std::string& help = helps().at("gdr perf");
  for (const char* words : {"\nCommon:\n", "\nLoad:\n", "\nPlacement:\n", "\nTime:\n",
                            "\nClient and server:\n", "Usage: gdr perf [OPTIONS]",
                            "gdr perf --server", "gdr perf HOST", "gdr perf compare BASE"}) {
    EXPECT_NE(help.find(words), std::string::npos) << words << " in\n" << help;
  }
  EXPECT_NE(helps().at("gdr run").find("[OPTIONS] -- PROGRAM [ARGS...]"), std::string::npos);
}

TEST(HelpCommand, AsksForTheHelpOfItsWords) {
  const Program program;
  EXPECT_EQ(*without_help(program.app, {"help"}), (Words{"--help"}));
  EXPECT_EQ(*without_help(program.app, {"help", "doctor", "capture"}),
            (Words{"doctor", "capture", "--help"}));
  EXPECT_EQ(*without_help(program.app, {"help", "--help"}), (Words{"help", "--help"}));
  EXPECT_EQ(*without_help(program.app, {"prove", "help"}), (Words{"prove", "help"}));
}

TEST(HelpCommand, NamesWhatWasMeant) {
  const Program program;
  EXPECT_EQ(without_help(program.app, {"help", "prov"}).error().message,
            "gdr: unknown subcommand 'prov'; did you mean 'gdr prove'?");
  EXPECT_EQ(without_help(program.app, {"help", "peermem", "biuld"}).error().message,
            "gdr peermem: unknown subcommand 'biuld'; did you mean 'gdr peermem build'?");
}

}  // namespace
}  // namespace gdr::cli
