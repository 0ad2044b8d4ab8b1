#include "ports/port_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "ports/port_reader.h"
#include "scratch_folder.h"

namespace gdr::ports {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kGuid = 0x0067'64ff'fe72'0000;
constexpr const char* kFile = "soft0-006764fffe720000";

class PortFileTest : public testing::Test {
 protected:
  std::uint64_t packets() const {
    PortValues values;
    EXPECT_TRUE(read_port(scratch_.root().c_str(), kFile, &values));
    return values[PortCount::kXmitPackets];
  }
  bool is_readable() const {
    PortValues values;
    return read_port(scratch_.root().c_str(), kFile, &values);
  }

  test::ScratchFolder scratch_;
  PortFiles files_{scratch_.root()};
};

TEST_F(PortFileTest, IsOnePortForAllThatCountOnIt) {
  PortFiles others(scratch_.root());
  files_.port("soft0", kGuid).add(PortCount::kXmitPackets, 2);
  others.port("soft0", kGuid).add(PortCount::kXmitPackets, 3);
  EXPECT_EQ(packets(), 5u);
}

TEST_F(PortFileTest, CountsOnWhereEarlierProgramsHaveEnded) {
  { PortFiles(scratch_.root()).port("soft0", kGuid).add(PortCount::kXmitPackets, 4); }
  files_.port("soft0", kGuid).add(PortCount::kXmitPackets);
  EXPECT_EQ(packets(), 5u);
}

TEST_F(PortFileTest, LosesNothingToThreadsThatCountAtATime) {
  Port& port = files_.port("soft0", kGuid);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&port] {
      for (int n = 0; n < 10000; ++n) port.add(PortCount::kXmitPackets);
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(packets(), 40000u);
}

// More than there are processors, so that each is interrupted.
TEST_F(PortFileTest, LosesNothingToProcessesThatCountAtATime) {
  Port& port = files_.port("soft0", kGuid);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int n = 0; n < 300'000; ++n) port.add(PortCount::kXmitPackets);
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  EXPECT_EQ(packets(), 300'000u * children.size());
}

TEST_F(PortFileTest, AddsUpWhatIsCountedByProcessorAndWhatIsNot) {
  files_.port("soft0", kGuid).add(PortCount::kXmitPackets, 2);
  const int file = open(scratch_.at(kFile).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  void* base = mmap(nullptr, sizeof(PortFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  ASSERT_NE(base, MAP_FAILED);
  // As where there are no restartable sequences, or more processors than there were.
  Port(static_cast<PortFile*>(base), 0).add(PortCount::kXmitPackets, 5);
  munmap(base, sizeof(PortFile));
  EXPECT_EQ(packets(), 7u);
}

TEST_F(PortFileTest, IsNotReadWhereItSaysThatItHasMoreProcessorsThanItHas) {
  files_.port("soft0", kGuid).add(PortCount::kXmitPackets, 2);
  const int file = open(scratch_.at(kFile).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  const std::uint32_t processors = kMostProcessors;
  ASSERT_EQ(pwrite(file, &processors, sizeof processors, offsetof(PortFileHeader, processors)), 4);
  close(file);
  EXPECT_FALSE(is_readable());
}

TEST_F(PortFileTest, TellsDevicesOfOneNameApartByTheirGuid) {
  files_.port("soft0", kGuid).add(PortCount::kXmitPackets);
  files_.port("soft0", kGuid + 1).add(PortCount::kXmitPackets, 10);
  EXPECT_EQ(packets(), 1u);
}

TEST_F(PortFileTest, CountsNothingWithoutAFolder) {
  PortFiles none("");
  Port& port = none.port("soft0", kGuid);
  EXPECT_FALSE(port.counts());
  port.add(PortCount::kXmitPackets);
}

// What others say a device is called comes from shared memory.
TEST_F(PortFileTest, MakesNoFileForANameThatIsAPath) {
  for (const char* name : {"", "../up", "a/b", "a b", "caf\xc3\xa9"}) {
    EXPECT_FALSE(files_.port(name, kGuid).counts()) << name;
  }
  EXPECT_FALSE(files_.port(std::string(kMostDeviceName + 1, 'a'), kGuid).counts());
  EXPECT_TRUE(fs::is_empty(scratch_.root()));
  EXPECT_TRUE(files_.port(std::string(kMostDeviceName, 'a'), kGuid).counts());
}

TEST_F(PortFileTest, IsReadableByItsOwnerAlone) {
  files_.port("soft0", kGuid);
  struct stat status {};
  ASSERT_EQ(stat(scratch_.at(kFile).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(PortFileTest, IsNotUsedWhereOthersCanWriteToIt) {
  files_.port("soft0", kGuid);
  ASSERT_EQ(chmod(scratch_.at(kFile).c_str(), 0666), 0);
  EXPECT_FALSE(PortFiles(scratch_.root()).port("soft0", kGuid).counts());
}

TEST_F(PortFileTest, ReplacesTheFileOfAnotherVersion) {
  scratch_.write(kFile, "gdrkit port counters 0");
  ASSERT_EQ(chmod(scratch_.at(kFile).c_str(), 0600), 0);
  files_.port("soft0", kGuid).add(PortCount::kXmitPackets);
  EXPECT_EQ(packets(), 1u);
}

TEST_F(PortFileTest, IsReadOnlyIfItIsWhole) {
  EXPECT_FALSE(is_readable());  // none is there
  files_.port("soft0", kGuid);
  EXPECT_TRUE(is_readable());
  const auto size = fs::file_size(scratch_.at(kFile));
  fs::resize_file(scratch_.at(kFile), size - 1);
  EXPECT_FALSE(is_readable());
  fs::resize_file(scratch_.at(kFile), size);
  EXPECT_TRUE(is_readable());
  fs::rename(scratch_.at(kFile), scratch_.at("other"));
  fs::create_symlink("other", scratch_.at(kFile));
  EXPECT_FALSE(is_readable());
}

}  // namespace
}  // namespace gdr::ports
