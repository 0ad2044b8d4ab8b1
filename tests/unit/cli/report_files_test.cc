#include "cli/report_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command_line.h"
#include "scratch_folder.h"

namespace gdr::cli {
namespace {

using Words = std::vector<std::string>;

class ReportOption : public testing::Test {
 protected:
  ReportOption() {
    files_.add_to(app_, "forms");
    app_.add_option("HOST", host_);
    refuse_empty_values(app_);
  }

  std::string problem_of(Words words) {
    std::reverse(words.begin(), words.end());
    try {
      app_.parse(words);
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }

  static std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  CLI::App app_{"", "gdr"};
  std::string host_;
  ReportFiles files_{{".json", ".html", ".md"}};
  test::ScratchFolder scratch_;
};

TEST_F(ReportOption, WritesEachFileInTheFormOfItsEnding) {
  const std::string folder = scratch_.root() + "/";
  ASSERT_EQ(problem_of({"--report", folder + "a.json", "--report", folder + "b.htm", "node7",
                        "--report=" + folder + "c.markdown"}),
            "");
  EXPECT_EQ(host_, "node7") << "is no file";
  EXPECT_TRUE(files_.has(".html"));
  ASSERT_TRUE(files_.check());
  ASSERT_TRUE(files_.write([](std::string_view ending) { return "as " + std::string(ending); }));
  EXPECT_EQ(content_of(folder + "a.json"), "as .json");
  EXPECT_EQ(content_of(folder + "b.htm"), "as .html");
  EXPECT_EQ(content_of(folder + "c.markdown"), "as .md");
}

TEST_F(ReportOption, HasNoFilesWhereNoneIsNamed) {
  ASSERT_EQ(problem_of({}), "");
  EXPECT_TRUE(files_.empty());
  EXPECT_FALSE(files_.has(".json"));
}

TEST_F(ReportOption, RefusesANameOfNoFormAndNamesOneThatItTakes) {
  EXPECT_EQ(problem_of({"--report", "a.b/run.txt"}),
            "--report: 'a.b/run.txt' does not end in .json or .html or .md; type: --report "
            "a.b/run.html");
  EXPECT_EQ(problem_of({"--report", "a.b/run"}),
            "--report: 'a.b/run' does not end in .json or .html or .md; type: --report "
            "a.b/run.html");
  EXPECT_NE(problem_of({"--report", "x.csv"}), "") << "no form of this subcommand";
  EXPECT_EQ(problem_of({"--report", ""}),
            "--report: the value is empty; give one or leave the option out");
}

TEST_F(ReportOption, FindsOutBeforeTheWorkThatAFileCannotBeWritten) {
  const std::string folder = scratch_.root() + "/";
  ASSERT_EQ(problem_of({"--report", folder + "a.json", "--report", folder + "none/b.json"}), "");
  const Result<void> writable = files_.check();
  ASSERT_FALSE(writable);
  EXPECT_NE(writable.error().message.find("none/b.json"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder + "a.json")) << "looking leaves nothing behind";
}

}  // namespace
}  // namespace gdr::cli
