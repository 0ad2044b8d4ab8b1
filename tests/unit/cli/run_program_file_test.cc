#include "cli/run_program_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scratch_folder.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

class InspectProgram : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  static std::string contents(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  test::ScratchFolder scratch_;
  fs::path folder_ = scratch_.root();
};

TEST_F(InspectProgram, ReadsWhatADynamicProgramNeeds) {
  Result<ProgramFile> program = inspect_program(GDR_FIXTURE_dynamic);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->kind, ProgramKind::kDynamic);
  EXPECT_FALSE(program->has_rpath);
  EXPECT_FALSE(program->privileged);
  EXPECT_FALSE(program->static_cudart);
  EXPECT_NE(std::find(program->needed.begin(), program->needed.end(), "libc.so.6"),
            program->needed.end());
}

TEST_F(InspectProgram, TellsAStaticProgram) {
  EXPECT_EQ(inspect_program(GDR_FIXTURE_static)->kind, ProgramKind::kStatic);
}

TEST_F(InspectProgram, TellsRpathFromRunpath) {
  EXPECT_TRUE(inspect_program(GDR_FIXTURE_rpath)->has_rpath);
  EXPECT_FALSE(inspect_program(GDR_FIXTURE_runpath)->has_rpath);
}

TEST_F(InspectProgram, FindsAStaticallyLinkedCudaRuntime) {
  EXPECT_TRUE(inspect_program(GDR_FIXTURE_cudart)->static_cudart);
}

TEST_F(InspectProgram, LooksAtTheInterpreterOfAScript) {
  const std::string script = write("script", "#! " GDR_FIXTURE_rpath " -u\nprint()\n");
  Result<ProgramFile> program = inspect_program(script);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, GDR_FIXTURE_rpath);
  EXPECT_TRUE(program->has_rpath);
}

TEST_F(InspectProgram, GivesUpOnAScriptThatInterpretsItself) {
  const std::string path = (folder_ / "loop").string();
  write("loop", "#!" + path + "\n");
  EXPECT_EQ(inspect_program(path)->kind, ProgramKind::kUnknown);
}

TEST_F(InspectProgram, TellsAnotherProcessor) {
  std::string bytes = contents(GDR_FIXTURE_dynamic);
  bytes[18] = 2;  // e_machine: SPARC
  bytes[19] = 0;
  EXPECT_EQ(inspect_program(write("sparc", bytes))->kind, ProgramKind::kForeign);
}

TEST_F(InspectProgram, SurvivesEveryTruncationAndEveryBrokenHeaderByte) {
  const std::string bytes = contents(GDR_FIXTURE_dynamic);
  for (std::size_t size : {0, 1, 4, 17, 63, 64, 100, 500, 1000, 4096}) {
    EXPECT_TRUE(inspect_program(write("short", bytes.substr(0, size)))) << size;
  }
  for (std::size_t at = 4; at < 1024; ++at) {
    std::string broken = bytes;
    broken[at] = '\xff';
    EXPECT_TRUE(inspect_program(write("broken", broken))) << at;
  }
}

TEST_F(InspectProgram, SeesThatTheLoaderWillIgnoreItsVariables) {
  const std::string path = write("privileged", contents(GDR_FIXTURE_dynamic));
  if (getuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_TRUE(inspect_program(path)->privileged);
  ASSERT_EQ(chmod(path.c_str(), 02755), 0);
  EXPECT_TRUE(inspect_program(path)->privileged);
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_FALSE(inspect_program(path)->privileged);
}

}  // namespace
}  // namespace gdr::cli
