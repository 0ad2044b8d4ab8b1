#include "base/own_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scratch_folder.h"

namespace gdr {
namespace {

namespace fs = std::filesystem;

class OwnFile : public testing::Test {
 protected:
  int refusal() const {
    const Result<UniqueFd> file = open_own_file(path_, O_RDWR);
    if (file) return 0;
    EXPECT_NE(file.error().message.find(path_), std::string::npos);
    return file.error().code;
  }

  test::ScratchFolder scratch_;
  std::string folder_ = scratch_.root(), path_ = scratch_.at("file");
};

TEST_F(OwnFile, IsMadeForThisAccountAlone) {
  const Result<UniqueFd> file = open_own_file(path_, O_RDWR);
  ASSERT_TRUE(file) << file.error().message;
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(OwnFile, IsOpenedAgainByTheSameAccount) {
  ASSERT_TRUE(open_own_file(path_, O_RDWR));
  EXPECT_EQ(refusal(), 0);
}

TEST_F(OwnFile, IsNotWhatALinkLeadsTo) {
  std::ofstream(folder_ + "/other") << "";
  fs::create_symlink("other", path_);
  EXPECT_EQ(refusal(), ELOOP);
  fs::remove(path_);
  fs::create_symlink("nowhere", path_);
  EXPECT_EQ(refusal(), ELOOP);
  EXPECT_FALSE(fs::exists(folder_ + "/nowhere"));
}

TEST_F(OwnFile, IsNoPipeAndNoDevice) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(refusal(), EINVAL);
  const Result<UniqueFd> device = open_own_file("/dev/null", O_RDWR);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, EINVAL);
}

TEST_F(OwnFile, IsNoFileThatOthersCanWrite) {
  std::ofstream(path_) << "";
  ASSERT_EQ(chmod(path_.c_str(), 0622), 0);
  EXPECT_EQ(refusal(), EPERM);
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  EXPECT_EQ(refusal(), 0);
}

TEST_F(OwnFile, IsNoFileOfAnotherAccount) {
  if (geteuid() != 0) GTEST_SKIP() << "giving a file to another account takes root";
  std::ofstream(path_) << "";
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(refusal(), EPERM);
}

TEST_F(OwnFile, HasNoSecondName) {
  std::ofstream(folder_ + "/other") << "";
  fs::create_hard_link(folder_ + "/other", path_);
  EXPECT_EQ(refusal(), EPERM);
}

TEST_F(OwnFile, IsNotWaitedForWithoutEnd) {
  std::ofstream(path_) << "";
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  const UniqueFd holder(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(holder.get(), LOCK_EX), 0);
  EXPECT_EQ(refusal(), EBUSY);
}

}  // namespace
}  // namespace gdr
