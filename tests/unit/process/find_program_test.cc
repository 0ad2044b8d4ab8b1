#include "process/find_program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "scratch_folder.h"

namespace gdr::process {
namespace {

class FindProgram : public testing::Test {
 protected:
  std::string write(const std::string& name, mode_t mode = 0755) {
    const std::string path = folder() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    chmod(path.c_str(), mode);
    return path;
  }
  std::string folder() const { return scratch_.root(); }

  test::ScratchFolder scratch_;
};

TEST_F(FindProgram, FindsProgramsAsExecvpDoes) {
  const std::string program = write("here");
  write("plain", 0644);
  const std::string path = "/nowhere:" + folder();
  EXPECT_EQ(*find_program("here", path), program);
  EXPECT_EQ(*find_program(program, ""), program);
  EXPECT_EQ(find_program("plain", path).error().code, EACCES);
  EXPECT_EQ(find_program("absent", path).error().code, ENOENT);
  EXPECT_EQ(find_program(folder(), "").error().code, EACCES);
  EXPECT_EQ(find_program("", path).error().code, EACCES);
}

Result<void> refuse_what_is_in_a(const std::string& program) {
  if (program.find("/a/") == std::string::npos) return {};
  return Error{EPERM, "in a"};
}

TEST_F(FindProgram, PassesOverWhatIsRefusedAndTellsTheRefusalWhereNothingElseIsThere) {
  write("a/tool");
  write("a/lonely");
  write("c/lonely", 0644);
  const std::string second = write("b/tool");
  const std::string path = folder() + "/a:" + folder() + "/b:" + folder() + "/c";
  EXPECT_EQ(*find_program("tool", path, refuse_what_is_in_a), second);
  const Result<std::string> refused = find_program("lonely", path, refuse_what_is_in_a);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EPERM);
  EXPECT_EQ(refused.error().message, "in a");
  EXPECT_EQ(find_program("absent", path, refuse_what_is_in_a).error().code, ENOENT);
}

}  // namespace
}  // namespace gdr::process
