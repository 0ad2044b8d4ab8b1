// What a program under `gdr run` sees of a render node, by the calls of the C library. In this
// process, which starts itself again with the library preloaded.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr char kNode[] = "/dev/dri/renderD128", kSecondNode[] = "/dev/dri/renderD129";
constexpr std::size_t kPage = 4096, kGpuBytes = 64u << 20;

// The kernel's requests, written out: the test's own copy.
struct Create {
  std::uint64_t size;
  std::uint32_t handle, pad;
};
struct Prime {
  std::uint32_t handle, flags;
  std::int32_t fd;
};
struct MapGtt {
  std::uint32_t handle, pad;
  std::uint64_t offset;
};
struct Close {
  std::uint32_t handle, pad;
};
constexpr unsigned long kCreate = _IOWR('d', 0x5b, Create), kPrime = _IOWR('d', 0x2d, Prime),
                        kMapGtt = _IOWR('d', 0x64, MapGtt), kClose = _IOW('d', 0x09, Close);

std::uint32_t create(int node, std::uint64_t size = kPage) {
  Create request{size, 0, 0};
  return ioctl(node, kCreate, &request) == 0 ? request.handle : 0;
}

int export_of(int node, std::uint32_t handle) {
  Prime request{handle, O_RDWR | O_CLOEXEC, -1};
  return ioctl(node, kPrime, &request) == 0 ? request.fd : -1;
}

char* map(int node, std::uint32_t handle, std::size_t length = kPage) {
  MapGtt request{handle, 0, 0};
  if (ioctl(node, kMapGtt, &request) != 0) return nullptr;
  void* at = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, node,
                  static_cast<off_t>(request.offset));
  return at != MAP_FAILED ? static_cast<char*>(at) : nullptr;
}

int exit_status_of_child(bool (*passes)(int), int argument) {
  const pid_t child = fork();
  if (child == 0) _exit(passes(argument) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(RenderNode, GivesBuffersThatTheNodeAndTheDmaBufBothMap) {
  const int node = open(kNode, O_RDWR);
  ASSERT_GE(node, 0) << std::strerror(errno);
  const std::uint32_t first = create(node), second = create(node, 3 * kPage);
  char* const by_node = map(node, second, 3 * kPage);
  ASSERT_NE(by_node, nullptr) << std::strerror(errno);
  std::strcpy(by_node + 2 * kPage, "of the second");
  const int exported = export_of(node, second);
  void* const by_export = mmap(nullptr, 3 * kPage, PROT_READ, MAP_SHARED, exported, 0);
  ASSERT_NE(by_export, MAP_FAILED);
  EXPECT_STREQ(static_cast<char*>(by_export) + 2 * kPage, "of the second");
  char* const other = map(node, first);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(*other, '\0');
  Close request{first, 0};
  EXPECT_EQ(ioctl(node, kClose, &request), 0);
  EXPECT_EQ(ioctl(node, kClose, &request), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(close(node), 0);
  EXPECT_STREQ(by_node + 2 * kPage, "of the second");  // mappings live on
  close(exported);
  munmap(by_node, 3 * kPage);
  munmap(other, kPage);
  munmap(by_export, 3 * kPage);
}

TEST(RenderNode, IsACharacterDeviceOfDrm) {
  const int node = open(kSecondNode, O_RDWR | O_CLOEXEC);
  struct stat status {};
  ASSERT_EQ(fstat(node, &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_EQ(major(status.st_rdev), 226u);
  EXPECT_EQ(minor(status.st_rdev), 129u);
  EXPECT_NE(fcntl(node, F_GETFD) & FD_CLOEXEC, 0);
  close(node);
}

TEST(RenderNode, IsOpenedByEveryWayOfTheCLibrary) {
  for (const int node : {open64(kNode, O_RDWR), openat(AT_FDCWD, kNode, O_RDWR),
                         openat64(AT_FDCWD, kNode, O_RDWR)}) {
    EXPECT_NE(create(node), 0u);
    close(node);
  }
}

TEST(RenderNode, AreAsManyAsThereAreSoftwareGpus) {
  EXPECT_EQ(open("/dev/dri/renderD130", O_RDWR), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(open("/dev/dri/renderD1", O_RDWR), -1);
}

TEST(RenderNode, ReturnsItsMemoryWithTheLastDuplicate) {
  const int node = open(kNode, O_RDWR);
  ASSERT_NE(create(node, kGpuBytes), 0u);
  const int copy = dup(node);
  close(node);
  EXPECT_NE(map(copy, 1), nullptr);
  EXPECT_EQ(create(copy), 0u);
  EXPECT_EQ(errno, ENOMEM);
  close(copy);
  const int again = open(kNode, O_RDWR);
  EXPECT_NE(create(again, kGpuBytes), 0u);
  close(again);
}

TEST(RenderNode, GoesOnInAChildOfForkAndOutlivesIt) {
  const int node = open(kNode, O_RDWR);
  const std::uint32_t handle = create(node);
  char* const bytes = map(node, handle);
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(exit_status_of_child(
                [](int inherited) {
                  char* const own = map(inherited, 1);
                  if (own == nullptr || create(inherited) != 2) return false;
                  std::strcpy(own, "by the child");
                  return close(inherited) == 0 && open(kNode, O_RDWR) >= 0;
                },
                node),
            0);
  EXPECT_STREQ(bytes, "by the child");
  EXPECT_EQ(create(node), 2u);  // the child's own was its own
  munmap(bytes, kPage);
  close(node);
}

TEST(RenderNode, StaysUsableForAChildThatClosesEverythingBeforeItStartsAnother) {
  const int node = open(kNode, O_RDWR);
  ASSERT_NE(create(node), 0u);
  const pid_t child = vfork();
  if (child == 0) {
    close(node);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(export_of(node, 1), -1);
  close(node);
}

TEST(RenderNode, ServesThreadsThatOpenAndCloseAtATime) {
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&failed] {
      for (int round = 0; round < 200; ++round) {
        const int node = open(kNode, O_RDWR);
        char* const bytes = map(node, create(node));
        if (bytes == nullptr || *bytes != '\0') ++failed;
        if (bytes != nullptr) *bytes = 'x';
        if (bytes != nullptr) munmap(bytes, kPage);
        close(node);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  const int node = open(kNode, O_RDWR);
  EXPECT_NE(create(node, kGpuBytes), 0u);
  close(node);
}

TEST(RenderNode, LeavesOtherFilesAlone) {
  const int node = open(kNode, O_RDWR);
  const int other = memfd_create("other", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(other, kPage), 0);
  EXPECT_NE(mmap(nullptr, kPage, PROT_READ, MAP_SHARED, other, 0), MAP_FAILED);
  EXPECT_NE(mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
  EXPECT_NE(mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, node, 0), MAP_FAILED);
  struct stat status {};
  ASSERT_EQ(fstat(other, &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  Create request{kPage, 0, 0};
  EXPECT_EQ(ioctl(other, kCreate, &request), -1);
  EXPECT_EQ(errno, ENOTTY);
  EXPECT_EQ(close(other), 0);
  EXPECT_EQ(close(other), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(mmap(nullptr, kPage, PROT_READ, MAP_SHARED, node, 0), MAP_FAILED);
  EXPECT_EQ(errno, EINVAL);
  close(node);
}

// The words of this process's command line, with the 0 that ends each.
std::vector<char*> own_words(std::string& text) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  std::vector<char*> words;
  for (std::size_t at = 0; at < text.size(); at += std::strlen(&text[at]) + 1) {
    words.push_back(&text[at]);
  }
  words.push_back(nullptr);
  return words;
}

const bool kPreloaded = [] {
  if (std::getenv("GDR_RENDER_FIRST") != nullptr) return true;
  setenv("GDR_RENDER_FIRST", "128", 1);
  setenv("GDR_SOFT_GPUS", "2:64M", 1);
  setenv("LD_PRELOAD", GDR_RENDER_LIBRARY, 1);
  std::string text;
  execv("/proc/self/exe", own_words(text).data());
  return false;
}();

TEST(RenderNode, IsTestedWithTheLibraryPreloaded) { EXPECT_TRUE(kPreloaded); }

}  // namespace
