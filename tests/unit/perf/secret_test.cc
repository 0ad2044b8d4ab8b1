#include "perf/secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "scratch_folder.h"

namespace gdr::perf {
namespace {

class SecretFile : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }
  std::string refusal() {
    const Result<Secret> secret = Secret::read(path_);
    return secret ? "" : secret.error().message;
  }
  test::ScratchFolder scratch_;
  std::string folder_ = scratch_.root(), path_ = scratch_.at("secret");
};

TEST_F(SecretFile, IsItsUsersAlone) {
  write("sixteen letters.");
  EXPECT_EQ(refusal(), "");
  for (const mode_t mode : {0644, 0640, 0604, 0620, 0602, 0660}) {
    write("sixteen letters.", mode);
    EXPECT_EQ(refusal(), "--secret " + path_ +
                             ": other users may read or change it; type: chmod 600 " + path_);
  }
}

TEST_F(SecretFile, BelongsToItsUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write("sixteen letters.");
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_NE(refusal().find("belongs to another user"), std::string::npos) << refusal();
}

TEST_F(SecretFile, HoldsEnoughToBeASecret) {
  write("fifteen letters");
  EXPECT_NE(refusal().find("shorter than 16 bytes"), std::string::npos) << refusal();
  write("fifteen letters\n\r\n\n");
  EXPECT_NE(refusal().find("shorter than 16 bytes"), std::string::npos) << refusal();
  write(std::string(4097, 'x'));
  EXPECT_NE(refusal().find("longer than 4096 bytes"), std::string::npos) << refusal();
}

TEST_F(SecretFile, IsNotAlwaysTheSameFewCharacters) {
  write("passwordpassword");
  EXPECT_NE(refusal().find("only 7 different characters"), std::string::npos) << refusal();
  write("passw0rdpassword");
  EXPECT_EQ(refusal(), "");
}

TEST_F(SecretFile, IsAnOrdinaryFile) {
  EXPECT_EQ(refusal(), "--secret " + path_ + ": No such file or directory");
  path_ = folder_;
  EXPECT_NE(refusal().find("not an ordinary file"), std::string::npos) << refusal();
  path_ = folder_ + "/secret";
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(refusal().find("not an ordinary file"), std::string::npos) << refusal();
}

TEST_F(SecretFile, IsTheSameWithAndWithoutAnEndOfLine) {
  write("sixteen letters.");
  const Digest without = Secret::read(path_)->key_for("a run");
  EXPECT_NE(Secret::read(path_)->key_for("another"), without);
  write("sixteen letters.\n");
  EXPECT_EQ(Secret::read(path_)->key_for("a run"), without);
  write("sixteen letters. ");
  EXPECT_NE(Secret::read(path_)->key_for("a run"), without);
}

}  // namespace
}  // namespace gdr::perf
