#include "watching/attached_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scratch_folder.h"

namespace gdr::watching {
namespace {

namespace fs = std::filesystem;

// /proc of two processes that UCX 1.13 connected within a host: 10 made segments 7 and 8, 20
// made 9.
class AttachedMemory : public testing::Test {
 protected:
  AttachedMemory() {
    fs::create_directories(proc_ + "/sysvipc");
    std::ofstream(proc_ + "/sysvipc/shm")
        << "       key      shmid perms                  size  cpid  lpid nattch   uid\n"
           "         0          7  1660                  4096    10    10      1     0\n"
           "         0          8  1660                 12288    10    20      2     0\n"
           "         0          9  1660                 12288    20    10      2     0\n";
    open_in(10, "ucx_shm_posix_a1");
    open_in(20, "ucx_shm_posix_b2");
  }

  void open_in(int pid, const std::string& name) {
    const std::string folder = proc_ + "/" + std::to_string(pid) + "/fd";
    fs::create_directories(folder);
    fs::create_symlink("/dev/shm/" + name + " (deleted)", folder + "/26");
  }
  static std::string system_v(int id) {
    return "7f15-7f17 rw-s 00000000 00:01 " + std::to_string(id) +
           "                    /SYSV00000000 (deleted)\n";
  }
  static std::string posix(const std::string& name) {
    return "7f11-7f12 rw-s 00000000 00:1b 608          /dev/shm/" + name + " (deleted)\n";
  }

  test::ScratchFolder folder_;
  const std::string proc_ = folder_.root();
  const std::string other_ = "7f00-7f01 r-xp 00000000 fe:00 99    /usr/lib/libuct.so.0\n";
};

TEST_F(AttachedMemory, IsNotWhatTheProcessMadeItself) {
  EXPECT_FALSE(has_attached(other_, 10, proc_));
  EXPECT_FALSE(has_attached(other_ + system_v(7) + system_v(8), 10, proc_));
  EXPECT_FALSE(has_attached(posix("ucx_shm_posix_a1") + other_, 10, proc_));
}

TEST_F(AttachedMemory, IsASegmentThatAnotherProcessMade) {
  EXPECT_TRUE(has_attached(system_v(7) + other_ + system_v(9), 10, proc_));
  EXPECT_TRUE(has_attached(system_v(8), 20, proc_));
}

TEST_F(AttachedMemory, IsAFileThatTheProcessHasMappedWithoutADescriptor) {
  EXPECT_TRUE(
      has_attached(other_ + posix("ucx_shm_posix_a1") + posix("ucx_shm_posix_b2"), 10, proc_));
}

TEST_F(AttachedMemory, IsNoneOfOtherPrograms) {
  EXPECT_FALSE(has_attached(posix("psm2_shm.1"), 10, proc_));
  EXPECT_FALSE(has_attached("", 10, proc_));
}

}  // namespace
}  // namespace gdr::watching
