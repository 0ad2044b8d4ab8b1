#include "render/nodes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "base/unique_fd.h"
#include "open_descriptors.h"

namespace gdr::render {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kMinor = 128;

class NodesTest : public testing::Test {
 protected:
  UniqueFd open(int gpu = 0, int flags = O_RDWR | O_CLOEXEC) {
    const int fd = nodes_->open({gpu, 8 * kPage}, kMinor + gpu, flags);
    EXPECT_GE(fd, 0) << std::strerror(-fd);
    return UniqueFd(fd);
  }
  std::uint32_t create(const UniqueFd& node, std::uint64_t bytes) {
    std::uint32_t handle = 0;
    EXPECT_EQ(nodes_->create_buffer(node.get(), bytes, handle), 0);
    return handle;
  }
  int error_of_create(const UniqueFd& node, std::uint64_t bytes) {
    std::uint32_t handle = 0;
    return nodes_->create_buffer(node.get(), bytes, handle);
  }
  UniqueFd export_of(const UniqueFd& node, std::uint32_t handle, int flags = O_RDWR | O_CLOEXEC) {
    const int fd = nodes_->export_buffer(node.get(), handle, flags);
    EXPECT_GE(fd, 0) << std::strerror(-fd);
    return UniqueFd(fd);
  }
  std::uint64_t offset_of(const UniqueFd& node, std::uint32_t handle) {
    std::uint64_t offset = 0;
    EXPECT_EQ(nodes_->offset_of(node.get(), handle, offset), 0);
    return offset;
  }
  int error_of_map(const UniqueFd& node, std::uint64_t offset, std::uint64_t length,
                   bool writes = true) {
    const UniqueFd opened(nodes_->open_mapped(node.get(), offset, length, writes));
    return opened ? 0 : nodes_->open_mapped(node.get(), offset, length, writes);
  }

  std::unique_ptr<Nodes> nodes_ = std::make_unique<Nodes>();
};

std::string first_bytes(int fd, std::size_t length) {
  void* at = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return std::strerror(errno);
  std::string bytes(static_cast<const char*>(at), length);
  munmap(at, kPage);
  return bytes;
}

TEST_F(NodesTest, KnowsANodeByAnyOfItsDescriptors) {
  EXPECT_FALSE(nodes_->any_open());
  const UniqueFd node = open(1);
  EXPECT_TRUE(nodes_->any_open());
  EXPECT_EQ(nodes_->minor_of(node.get()), kMinor + 1);
  EXPECT_EQ(nodes_->minor_of(UniqueFd(dup(node.get())).get()), kMinor + 1);
  const UniqueFd other(memfd_create("other", MFD_CLOEXEC));
  EXPECT_EQ(nodes_->minor_of(other.get()), std::nullopt);
  EXPECT_EQ(nodes_->minor_of(-1), std::nullopt);
}

TEST_F(NodesTest, FreesBuffersWithTheLastDescriptorOfTheNode) {
  const int before = test::open_descriptors();
  UniqueFd node = open();
  const std::uint32_t handle = create(node, 8 * kPage);
  UniqueFd copy(dup(node.get()));
  node.reset();
  nodes_->tidy_up();
  EXPECT_TRUE(export_of(copy, handle));
  copy.reset();
  nodes_->tidy_up();
  EXPECT_FALSE(nodes_->any_open());
  EXPECT_EQ(test::open_descriptors(), before);
  EXPECT_EQ(error_of_create(open(), 8 * kPage), 0);
}

TEST_F(NodesTest, FreesBuffersOfANodeThatWasClosedUnseenWhenTheNextIsNeeded) {
  UniqueFd node = open();
  create(node, 8 * kPage);
  UniqueFd second = open();
  EXPECT_EQ(error_of_create(second, kPage), -ENOMEM);
  close_descriptor(node.release());
  EXPECT_EQ(error_of_create(second, kPage), 0);
}

TEST_F(NodesTest, BoundsAGpusBuffersByItsMemory) {
  const UniqueFd node = open(), same_gpu = open(), other_gpu = open(1);
  const std::uint32_t first = create(node, 5 * kPage + 1);
  EXPECT_EQ(error_of_create(node, 3 * kPage), -ENOMEM);
  EXPECT_EQ(error_of_create(same_gpu, 3 * kPage), -ENOMEM);
  EXPECT_EQ(error_of_create(node, std::uint64_t{1} << 62), -ENOMEM);
  create(other_gpu, 8 * kPage);
  create(same_gpu, 2 * kPage);
  EXPECT_EQ(error_of_create(node, 1), -ENOMEM);
  EXPECT_EQ(nodes_->close_buffer(node.get(), first), 0);
  create(node, 6 * kPage);
}

TEST_F(NodesTest, RefusesSizesThatAreNone) {
  const UniqueFd node = open();
  EXPECT_EQ(error_of_create(node, 0), -EINVAL);
  EXPECT_EQ(error_of_create(node, ~std::uint64_t{0}), -EINVAL);
}

TEST_F(NodesTest, NumbersBuffersOfEachNodeFromOneByTheLowestFreeNumber) {
  const UniqueFd node = open(), other = open();
  EXPECT_EQ(create(node, 1), 1u);
  EXPECT_EQ(create(node, 1), 2u);
  EXPECT_EQ(create(node, 1), 3u);
  EXPECT_EQ(create(other, 1), 1u);
  EXPECT_EQ(nodes_->close_buffer(node.get(), 2), 0);
  EXPECT_EQ(create(node, 1), 2u);
}

TEST_F(NodesTest, RefusesHandlesThatAreNoneAsTheKernelDoes) {
  const UniqueFd node = open(), other = open();
  const std::uint32_t handle = create(other, 1);
  std::uint64_t offset = 0;
  for (const std::uint32_t wrong : {0u, handle, ~0u}) {
    EXPECT_EQ(nodes_->close_buffer(node.get(), wrong), -EINVAL);
    EXPECT_EQ(nodes_->export_buffer(node.get(), wrong, O_RDWR), -ENOENT);
    EXPECT_EQ(nodes_->offset_of(node.get(), wrong, offset), -ENOENT);
  }
}

TEST_F(NodesTest, ExportsWhatANicTakesAsADmaBuf) {
  const UniqueFd node = open();
  const UniqueFd exported = export_of(node, create(node, kPage + 1));
  EXPECT_NE(fcntl(exported.get(), F_GET_SEALS) & F_SEAL_SHRINK, 0);
  EXPECT_EQ(lseek(exported.get(), 0, SEEK_END), static_cast<off_t>(2 * kPage));
  EXPECT_NE(fcntl(exported.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(ftruncate(exported.get(), 0), -1);
}

TEST_F(NodesTest, ExportsForReadingOnlyWhereNoMoreIsAskedFor) {
  const UniqueFd node = open();
  const UniqueFd exported = export_of(node, create(node, kPage), 0);
  EXPECT_EQ(fcntl(exported.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, exported.get(), 0),
            MAP_FAILED);
}

TEST_F(NodesTest, ShowsTheSameBytesThroughTheNodeAndThroughAnExport) {
  UniqueFd node = open();
  const std::uint32_t handle = create(node, kPage);
  const UniqueFd exported = export_of(node, handle);
  const UniqueFd mapped(nodes_->open_mapped(node.get(), offset_of(node, handle), kPage, true));
  ASSERT_EQ(pwrite(mapped.get(), "through the node", 16, 0), 16);
  EXPECT_EQ(first_bytes(exported.get(), 16), "through the node");
  // An exported buffer lives on.
  EXPECT_EQ(nodes_->close_buffer(node.get(), handle), 0);
  node.reset();
  nodes_->tidy_up();
  EXPECT_EQ(first_bytes(exported.get(), 16), "through the node");
}

TEST_F(NodesTest, MapsEachBufferAtAPlaceOfItsOwnAndNothingElse) {
  const UniqueFd node = open(), other = open();
  const std::uint64_t first = offset_of(node, create(node, kPage));
  const std::uint64_t second = offset_of(node, create(node, 2 * kPage));
  EXPECT_NE(first, second);
  EXPECT_GE(first, std::uint64_t{1} << 32);
  EXPECT_EQ(error_of_map(node, first, kPage), 0);
  EXPECT_EQ(error_of_map(node, second, 2 * kPage), 0);
  EXPECT_EQ(error_of_map(node, first, kPage + 1), -EINVAL);
  EXPECT_EQ(error_of_map(node, second + kPage, kPage), -EINVAL);
  EXPECT_EQ(error_of_map(node, 0, kPage), -EINVAL);
  EXPECT_EQ(error_of_map(node, ~std::uint64_t{0} & ~(kPage - 1), kPage), -EINVAL);
  EXPECT_EQ(error_of_map(other, first, kPage), -EACCES);
  EXPECT_EQ(nodes_->close_buffer(node.get(), 1), 0);
  EXPECT_EQ(error_of_map(node, first, kPage), -EINVAL);
}

TEST_F(NodesTest, RefusesToWriteThroughANodeThatWasOpenedForReading) {
  const UniqueFd node = open(0, O_RDONLY);
  const std::uint64_t offset = offset_of(node, create(node, kPage));
  EXPECT_EQ(error_of_map(node, offset, kPage, false), 0);
  EXPECT_EQ(error_of_map(node, offset, kPage, true), -EACCES);
}

TEST_F(NodesTest, ImportsABufferUnderItsHandleAndIntoAnotherNodeUnderANewOne) {
  const UniqueFd node = open(), other = open();
  create(node, 1);
  const std::uint32_t handle = create(node, 7 * kPage);
  const UniqueFd exported = export_of(node, handle);
  std::uint32_t imported = 0;
  EXPECT_EQ(nodes_->import_buffer(node.get(), exported.get(), imported), 0);
  EXPECT_EQ(imported, handle);
  EXPECT_EQ(nodes_->import_buffer(other.get(), exported.get(), imported), 0);
  EXPECT_EQ(imported, 1u);
  ASSERT_EQ(pwrite(exported.get(), "shared", 6, 0), 6);
  EXPECT_EQ(first_bytes(export_of(other, imported).get(), 6), "shared");
}

TEST_F(NodesTest, ImportsNothingButMemoryThatCannotShrink) {
  const UniqueFd node = open();
  const UniqueFd unsealed(memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), kPage), 0);
  std::uint32_t handle = 0;
  EXPECT_EQ(nodes_->import_buffer(node.get(), unsealed.get(), handle), -EINVAL);
  EXPECT_EQ(nodes_->import_buffer(node.get(), node.get(), handle), -EINVAL);
  EXPECT_EQ(nodes_->import_buffer(node.get(), -1, handle), -EBADF);
}

TEST_F(NodesTest, RefusesEverythingForADescriptorThatIsNoNode) {
  const UniqueFd node = open();
  const UniqueFd other(memfd_create("other", MFD_CLOEXEC));
  std::uint32_t handle = 0;
  EXPECT_EQ(nodes_->create_buffer(other.get(), kPage, handle), -ENOTTY);
  EXPECT_EQ(nodes_->close_buffer(other.get(), 1), -ENOTTY);
  EXPECT_EQ(nodes_->export_buffer(other.get(), 1, O_RDWR), -ENOTTY);
  EXPECT_EQ(nodes_->open_mapped(other.get(), 0, kPage, true), -ENOTTY);
}

std::set<int> descriptors() {
  std::set<int> open;
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) open.insert(fd);
  }
  return open;
}

TEST_F(NodesTest, ClosesNoFileOfAProgramThatClosedDescriptorsWhichItDidNotOpen) {
  const std::set<int> before = descriptors();
  const UniqueFd node = open();
  create(node, kPage);
  std::vector<UniqueFd> others;
  for (const int fd : descriptors()) {
    if (before.contains(fd) || fd == node.get()) continue;
    const UniqueFd other(memfd_create("other", MFD_CLOEXEC));
    others.emplace_back(dup3(other.get(), fd, O_CLOEXEC));
  }
  ASSERT_EQ(others.size(), 2u);  // the pipe's writing end, the buffer
  std::uint64_t offset = 0;
  EXPECT_EQ(nodes_->export_buffer(node.get(), 1, O_RDWR), -ENOENT);
  EXPECT_EQ(nodes_->offset_of(node.get(), 1, offset), -ENOENT);
  nodes_->tidy_up();
  EXPECT_FALSE(nodes_->any_open());
  for (const UniqueFd& other : others) EXPECT_GE(fcntl(other.get(), F_GETFD), 0);
}

TEST_F(NodesTest, RefusesAsOpenDoesWhatADeviceIsNot) {
  EXPECT_EQ(nodes_->open({0, kPage}, kMinor, O_RDWR | O_DIRECTORY), -ENOTDIR);
  EXPECT_EQ(nodes_->open({0, kPage}, kMinor, O_RDWR | O_CREAT | O_EXCL), -EEXIST);
  EXPECT_EQ(nodes_->open({Nodes::kMostGpus, kPage}, kMinor, O_RDWR), -ENODEV);
}

TEST_F(NodesTest, AreBoundedAndGoOnWhenSomeAreClosed) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur < 2048) GTEST_SKIP() << "at most " << limit.rlim_cur << " descriptors";
  std::vector<UniqueFd> opened;
  for (int i = 0; i < Nodes::kMostNodes; ++i) opened.push_back(open());
  EXPECT_EQ(nodes_->open({0, kPage}, kMinor, O_RDWR), -EMFILE);
  opened.pop_back();
  opened.push_back(open());

  opened.clear();
  const UniqueFd node(nodes_->open({1, std::uint64_t{1} << 40}, kMinor, O_RDWR | O_CLOEXEC));
  for (std::uint32_t i = 1; i <= Nodes::kMostBuffers; ++i) ASSERT_EQ(create(node, 1), i);
  EXPECT_EQ(error_of_create(node, 1), -ENOSPC);
  EXPECT_EQ(nodes_->close_buffer(node.get(), 7), 0);
  EXPECT_EQ(create(node, 1), 7u);
}

}  // namespace
}  // namespace gdr::render
