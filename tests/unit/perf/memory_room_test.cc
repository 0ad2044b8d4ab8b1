#include "perf/memory_room.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch_folder.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// A made-up /proc and /sys/fs/cgroup.
class Machine : public testing::Test, protected test::ScratchFolder {
 protected:
  Machine() {
    write("proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n");
  }
  using ScratchFolder::write;
  void write(const std::string& path, std::uint64_t value) {
    write(path, std::to_string(value) + "\n");
  }
  // MiB
  std::uint64_t available() const { return available_memory(root()).value_or(0) / kMiB; }
};

constexpr const char* kUnified = "sys/fs/cgroup";

TEST_F(Machine, WithoutCgroupsGivesHalfOfWhatIsAvailable) { EXPECT_EQ(available(), 4096u); }

TEST_F(Machine, ThatSaysNothingLeavesItUnknown) {
  std::filesystem::remove_all(root_ / "proc");
  EXPECT_EQ(available_memory(root()), std::nullopt);
  EXPECT_TRUE(check_host_memory(1 << 20, std::nullopt));
}

TEST_F(Machine, GivesHalfOfWhatItsCgroupLeaves) {
  write("proc/self/cgroup", "0::/a/b\n");
  write(std::string(kUnified) + "/a/b/memory.max", 1024 * kMiB);
  EXPECT_EQ(available(), 512u);
  write(std::string(kUnified) + "/a/b/memory.current", 624 * kMiB);
  EXPECT_EQ(available(), 200u);
  // What the kernel gives up when memory is asked for.
  write(std::string(kUnified) + "/a/b/memory.stat",
        "anon 1\nactive_file 5\ninactive_file " + std::to_string(100 * kMiB) + "\n");
  EXPECT_EQ(available(), 250u);
  write(std::string(kUnified) + "/a/b/memory.high", 924 * kMiB);
  EXPECT_EQ(available(), 200u);
}

TEST_F(Machine, AsksEveryCgroupAboveToo) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  write(std::string(kUnified) + "/a/b/c/memory.max", "max\n");
  write(std::string(kUnified) + "/a/b/memory.max", 2048 * kMiB);
  write(std::string(kUnified) + "/a/b/memory.current", 48 * kMiB);
  write(std::string(kUnified) + "/a/memory.max", 1024 * kMiB);
  write(std::string(kUnified) + "/a/memory.current", 1000 * kMiB);
  EXPECT_EQ(available(), 12u);
}

TEST_F(Machine, FullToTheLimitLeavesNothing) {
  write("proc/self/cgroup", "0::/a\n");
  write(std::string(kUnified) + "/a/memory.max", 100 * kMiB);
  write(std::string(kUnified) + "/a/memory.current", 300 * kMiB);
  EXPECT_EQ(available_memory(root()), 0u);
  EXPECT_FALSE(check_host_memory(1, available_memory(root())));
}

TEST_F(Machine, WithARoomyCgroupIsBoundedByTheHost) {
  write("proc/self/cgroup", "0::/a\n");
  write(std::string(kUnified) + "/a/memory.max", std::uint64_t{1} << 40);
  EXPECT_EQ(available(), 4096u);
}

// A container whose cgroup is the root of what it sees, under the path that it has outside.
TEST_F(Machine, FindsTheCgroupOfAContainer) {
  for (const char* path : {"0::/\n", "0::/system.slice/docker-1.scope\n", "0::/../..\n"}) {
    write("proc/self/cgroup", path);
    write(std::string(kUnified) + "/memory.max", 512 * kMiB);
    EXPECT_EQ(available(), 256u) << path;
  }
}

TEST_F(Machine, OfVersionOneIsAskedAsWell) {
  write("proc/self/cgroup", "12:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/1\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available(), 4096u);
  write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", 512 * kMiB);
  write("sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes", 212 * kMiB);
  EXPECT_EQ(available(), 150u);
  write("sys/fs/cgroup/memory/docker/1/memory.stat",
        "inactive_file 7\ntotal_inactive_file " + std::to_string(100 * kMiB) + "\n");
  EXPECT_EQ(available(), 200u);
  write("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", 100 * kMiB);
  EXPECT_EQ(available(), 50u);
}

TEST_F(Machine, WithNonsenseInItsFilesIsTakenByTheRest) {
  for (const char* text : {"", ":", "::", "0:\n", "\n\n", "4:memory", "0::relative\n"}) {
    write("proc/self/cgroup", text);
    EXPECT_EQ(available(), 4096u) << text;
  }
  write("proc/self/cgroup", "0::/a\n");
  for (const char* text : {"", "-1\n", "many\n", "12x\n", "99999999999999999999999\n"}) {
    write(std::string(kUnified) + "/a/memory.max", text);
    EXPECT_EQ(available(), 4096u) << text;
  }
}

TEST(LockedMemory, SaysWhatTheLimitIsAndWhatToType) {
  EXPECT_EQ(locked_memory_advice(ENOMEM, 1 << 20, 65536),
            "; the locked-memory limit is 65536 bytes: ulimit -l unlimited (for services, "
            "LimitMEMLOCK=infinity)");
  EXPECT_NE(locked_memory_advice(ENOMEM, 4096, 65536).find("other registrations"),
            std::string::npos);
}

TEST(HostMemory, IsRefusedBeforeTheKernelEndsTheProcess) {
  EXPECT_TRUE(check_host_memory(1 << 20, 1 << 20));
  const Result<void> room = check_host_memory(std::uint64_t{64} << 30, std::uint64_t{3} << 29);
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().code, ENOMEM);
  EXPECT_EQ(room.error().message,
            "64 GiB of host memory are needed, but a run may use only 1.5 GiB (half of what this "
            "host or its memory cgroup has left); use smaller --sizes or fewer --queue-pairs");
  EXPECT_GT(available_memory(), std::uint64_t{1} << 20);
}

TEST(LockedMemory, SaysNothingWhereAnotherThingWasInTheWay) {
  EXPECT_EQ(locked_memory_advice(EFAULT, 1 << 20, 65536), "");
  EXPECT_EQ(locked_memory_advice(ENOMEM, 1 << 20, RLIM_INFINITY), "");
}

}  // namespace
}  // namespace gdr::perf
