#include "memory/pinned_memory.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"
#include "mapping.h"
#include "memory/host_pages.h"
#include "open_descriptors.h"

namespace gdr::memory {
namespace {

int mappings() {
  int count = 0;
  FILE* maps = std::fopen("/proc/self/maps", "re");
  for (int c = 0; (c = std::fgetc(maps)) != EOF;) count += c == '\n';
  std::fclose(maps);
  return count;
}

TEST(PinnedMemory, OfTheHostIsReachedAtItsOwnAddress) {
  Mapping memory(3 * kPage);
  auto pinned = PinnedMemory::pin(memory.address() + 17, kPage, true);
  ASSERT_TRUE(pinned) << pinned.error().message;
  EXPECT_STREQ((*pinned)->client().name(), "host");
  EXPECT_EQ((*pinned)->address(), memory.address() + 17);
  EXPECT_TRUE((*pinned)->cpu_reachable());
  EXPECT_TRUE((*pinned)->still_valid());
}

// How an address of a GPU without a client shows: perftest's "Couldn't allocate MR", error 14.
TEST(PinnedMemory, DeviceOnlyAddressSpaceGivesEfault) {
  Mapping memory(kHugePage, PROT_NONE);
  for (const bool writable : {false, true}) {
    const auto pinned = PinnedMemory::pin(memory.address(), memory.size(), writable);
    ASSERT_FALSE(pinned);
    EXPECT_EQ(pinned.error().code, 14);
  }
}

TEST(PinnedMemory, LeavesNothingBehind) {
  Mapping memory(8 * kPage);
  const UniqueFd file(memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(file.get(), 8 * kPage), 0);
  ASSERT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  const auto cycle = [&] {
    ASSERT_TRUE(PinnedMemory::pin(memory.address(), memory.size(), true));
    ASSERT_TRUE(PinnedMemory::pin_dmabuf({file.get(), kPage}, kPage, 0, true));
    ASSERT_FALSE(PinnedMemory::pin_dmabuf({file.get(), kPage}, 100 * kPage, 0, true));
  };
  cycle();
  const int descriptors = test::open_descriptors(), maps = mappings();
  for (int i = 0; i < 200; ++i) cycle();
  EXPECT_EQ(test::open_descriptors(), descriptors);
  EXPECT_LE(mappings(), maps + 1);  // malloc may have grown by one
}

TEST(PinnedMemory, NeverLoadsCuda) {
  Mapping memory(kPage);
  ASSERT_TRUE(PinnedMemory::pin(memory.address(), memory.size(), true));
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace gdr::memory
