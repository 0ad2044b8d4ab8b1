#include "process/start.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "scratch_folder.h"
#include "soon.h"

namespace gdr::process {
namespace {

constexpr std::size_t kMost = 64 * 1024;

Start shell(const std::string& script) {
  Start start;
  start.command = {"sh", "-c", script};
  return start;
}

std::string output_of(Start start, Output which = Output::kAll) {
  const Result<ChildEnd> end = run(std::move(start), which, test::kLastResort, kMost);
  return end ? end->output : end.error().message;
}

int status_of(pid_t pid) {
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Run, ReadsStandardOutputAndErrorsWhereItIsAskedTo) {
  EXPECT_EQ(output_of(shell("echo out; echo err >&2")), "out\nerr\n");
  Result<Pipe> errors = make_pipe();
  ASSERT_TRUE(errors);
  Start start = shell("echo out; echo err >&2");
  start.errors = errors->write_end.get();
  EXPECT_EQ(output_of(start, Output::kStandardOutput), "out\n");
  char text[8] = "";
  EXPECT_EQ(read(errors->read_end.get(), text, sizeof text), 4);
  EXPECT_EQ(std::string(text), "err\n");
}

TEST(Run, GivesNoInput) {
  // In a copy of this process, which has something on its own standard input.
  const Result<pid_t> copy = begin({}, [] {
    Result<Pipe> input = make_pipe();
    if (!input || write(input->write_end.get(), "own\n", 4) != 4) return 1;
    input->write_end.reset();
    if (dup2(input->read_end.get(), STDIN_FILENO) < 0) return 2;
    return output_of(shell("cat; echo end")) == "end\n" ? 0 : 3;
  });
  ASSERT_TRUE(copy);
  EXPECT_EQ(status_of(*copy), 0);
}

TEST(Run, GivesTheEnvironmentThatWasNamedAndNoOther) {
  const char* const environment[] = {"ONE=1", nullptr};
  Start start = shell("echo $ONE; echo ${HOME-none}");
  start.program = "/bin/sh";
  start.environment = environment;
  EXPECT_EQ(output_of(start), "1\nnone\n");
}

TEST(Run, LeavesNoPipeOpenInTheProgram) {
  Result<Pipe> pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const std::string end = "/proc/self/fd/" + std::to_string(pipe->write_end.get());
  EXPECT_EQ(output_of(shell("test -e " + end + " && echo open || echo closed")), "closed\n");
}

TEST(Begin, SaysWhyAProgramDoesNotStart) {
  Start start;
  start.command = {"no-such-program-of-gdrkit"};
  Result<pid_t> pid = begin(start);
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().code, ENOENT);
  EXPECT_EQ(pid.error().message, "no-such-program-of-gdrkit: No such file or directory");
  start.command = {"/dev/null"};
  pid = begin(start);
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().code, EACCES);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "what did not start is reaped";
  start.command = {};
  EXPECT_EQ(begin(start).error().code, EINVAL);
}

class OtherAccountsPrograms : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_EQ(chmod(scratch_.root().c_str(), 0755), 0);
    program("theirs", "theirs");
    ASSERT_EQ(chown(scratch_.at("theirs").c_str(), kOther, kOther), 0);
    program("own", "own");
    path_ = getenv("PATH");
    setenv("PATH", (scratch_.at("theirs") + ":" + scratch_.at("own")).c_str(), 1);
  }
  void TearDown() override {
    if (!path_.empty()) setenv("PATH", path_.c_str(), 1);
  }
  void program(const std::string& folder, const std::string& word) const {
    const std::string file = scratch_.write(folder + "/ask-me", "#!/bin/sh\necho " + word + "\n");
    ASSERT_EQ(chmod(file.c_str(), 0755), 0);
  }
  static std::string answer_of(const std::string& program, ChosenBy chosen_by) {
    Start start;
    start.command = {program};
    start.chosen_by = chosen_by;
    return output_of(start);
  }
  static constexpr uid_t kOther = 54440;
  test::ScratchFolder scratch_;
  std::string path_;
};

TEST_F(OtherAccountsPrograms, AreNotStartedByRootUnlessSomebodyNamesThem) {
  const std::string theirs = scratch_.at("theirs/ask-me");
  const std::string refusal =
      theirs + " is not started: " + scratch_.at("theirs") + " belongs to account 54440";
  EXPECT_EQ(answer_of(theirs, ChosenBy::kGdr), refusal);
  EXPECT_EQ(answer_of(theirs, ChosenBy::kPath), refusal);
  EXPECT_EQ(answer_of(theirs, ChosenBy::kAccount), "theirs\n");
  EXPECT_EQ(answer_of("ask-me", ChosenBy::kGdr), "own\n") << "the next one in PATH";
  setenv("PATH", scratch_.at("theirs").c_str(), 1);
  EXPECT_EQ(answer_of("ask-me", ChosenBy::kGdr), refusal);
}

TEST_F(OtherAccountsPrograms, AreNoPlugInsOfRootsWhereOnlySafeVariablesAreWanted) {
  const std::string theirs = "THEIRS=/usr/lib:" + scratch_.at("theirs/missing");
  const char* const environment[] = {theirs.c_str(), "OURS=/usr/lib:/missing", "WORD=a:b", nullptr};
  Start start;
  start.command = {"/usr/bin/env"};
  start.environment = environment;
  EXPECT_EQ(output_of(start), theirs + "\nOURS=/usr/lib:/missing\nWORD=a:b\n");
  start.only_safe_variables = true;
  EXPECT_EQ(output_of(start), "OURS=/usr/lib:/missing\nWORD=a:b\n");
}

TEST_F(OtherAccountsPrograms, AreAnOrdinaryAccountsChoiceInItsPathOnly) {
  const Result<pid_t> copy = begin({}, [this] {
    if (setgid(kOther + 1) != 0 || setuid(kOther + 1) != 0) return 9;
    const std::string theirs = scratch_.at("theirs/ask-me");
    if (answer_of(theirs, ChosenBy::kGdr).find(" is not started: ") == std::string::npos) return 1;
    return answer_of("ask-me", ChosenBy::kGdr) == "theirs\n" ? 0 : 2;
  });
  ASSERT_TRUE(copy);
  EXPECT_EQ(status_of(*copy), 0);
}

TEST(Begin, GivesDescriptorsFromThreeOnWhateverNumbersTheyHadHere) {
  Result<Pipe> one = make_pipe(), other = make_pipe();
  ASSERT_TRUE(one && other);
  Start start = shell("echo first >&3; echo second >&4");
  start.descriptors = {one->write_end.get(), other->write_end.get()};
  const Result<pid_t> pid = begin(start);
  ASSERT_TRUE(pid) << pid.error().message;
  EXPECT_EQ(status_of(*pid), 0);
  char text[16] = "";
  EXPECT_EQ(read(one->read_end.get(), text, sizeof text), 6);
  EXPECT_EQ(std::string(text), "first\n");
  EXPECT_EQ(read(other->read_end.get(), text, sizeof text), 7);
}

TEST(Begin, GivesDescriptorsThatHaveEachOthersNumbers) {
  // In a copy of this process, whose descriptors 3 and 4 may be overwritten.
  const Result<pid_t> copy = begin({}, [] {
    Result<Pipe> first = make_pipe(), second = make_pipe();
    if (!first || !second) return 1;
    const int read_first = fcntl(first->read_end.get(), F_DUPFD, 20);
    const int read_second = fcntl(second->read_end.get(), F_DUPFD, 20);
    const int write_first = fcntl(first->write_end.get(), F_DUPFD, 20);
    const int write_second = fcntl(second->write_end.get(), F_DUPFD, 20);
    if (dup2(write_first, 4) < 0 || dup2(write_second, 3) < 0) return 2;
    for (const int end : {read_first, read_second}) fcntl(end, F_SETFL, O_NONBLOCK);
    Start start = shell("echo first >&3; echo second >&4");
    start.descriptors = {4, 3};
    const Result<pid_t> pid = begin(start);
    if (!pid || status_of(*pid) != 0) return 3;
    char text[16] = "";
    if (read(read_first, text, 15) != 6 || std::string(text) != "first\n") return 4;
    return read(read_second, text, 15) == 7 && std::string(text) == "second\n" ? 0 : 5;
  });
  ASSERT_TRUE(copy);
  EXPECT_EQ(status_of(*copy), 0);
}

TEST(Begin, KeepsWhatALibraryPrintsOffStandardOutput) {
  Result<Pipe> errors = make_pipe();
  ASSERT_TRUE(errors);
  Start start = shell("echo printed");
  start.errors = errors->write_end.get();
  const Result<pid_t> pid = begin(start);
  ASSERT_TRUE(pid);
  EXPECT_EQ(status_of(*pid), 0);
  char text[16] = "";
  EXPECT_EQ(read(errors->read_end.get(), text, sizeof text), 8);
}

TEST(Begin, DoesWorkInACopyOfThisProcess) {
  int value = 1;
  const Result<pid_t> pid = begin({}, [&] {
    value = 42;
    return value;
  });
  ASSERT_TRUE(pid);
  EXPECT_EQ(status_of(*pid), 42);
  EXPECT_EQ(value, 1);
}

// Whether the process has ended, be it not reaped yet.
bool has_ended(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.empty() || text.find(") Z ") != std::string::npos;
}

TEST(Begin, EndsTheChildWithItsParentUnlessItIsToGoOn) {
  for (const bool ends : {true, false}) {
    Result<Pipe> told = make_pipe();
    ASSERT_TRUE(told);
    const Result<pid_t> parent = begin({}, [&] {
      Start start;
      start.command = {"sleep", "600"};
      start.ends_with_parent = ends;
      const Result<pid_t> child = begin(start);
      const pid_t pid = child ? *child : -1;
      return write(told->write_end.get(), &pid, sizeof pid) == sizeof pid ? 0 : 1;
    });
    ASSERT_TRUE(parent);
    pid_t child = -1;
    ASSERT_EQ(read(told->read_end.get(), &child, sizeof child), static_cast<ssize_t>(sizeof child));
    ASSERT_GT(child, 0);
    EXPECT_EQ(status_of(*parent), 0);
    EXPECT_EQ(
        test::soon([&] { return has_ended(child); }, ends ? test::kLastResort : 200 * kMillisecond),
        ends);
    kill(child, SIGKILL);
  }
}

}  // namespace
}  // namespace gdr::process
