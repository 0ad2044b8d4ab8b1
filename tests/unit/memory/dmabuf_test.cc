#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"
#include "memory/host_pages.h"
#include "memory/pinned_memory.h"

namespace gdr::memory {
namespace {

constexpr std::uint64_t kBytes = 4 * kPage;

UniqueFd sealed_memfd(int seals = F_SEAL_SHRINK) {
  UniqueFd file(memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.get(), kBytes), 0);
  EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

unsigned char* bytes_of(const PinnedMemory& memory) {
  return reinterpret_cast<unsigned char*>(static_cast<std::uintptr_t>(memory.address()));
}

int refusal(DmaBuf buffer, std::uint64_t length, bool writable = true) {
  const auto memory = PinnedMemory::pin_dmabuf(buffer, length, 0, writable);
  if (memory) return 0;
  EXPECT_EQ(memory.error().message.find('\n'), std::string::npos);
  return memory.error().code;
}

TEST(DmaBuf, WhatIsNoDescriptorGivesEbadf) {
  EXPECT_EQ(refusal({-1, 0}, kPage), EBADF);
  EXPECT_EQ(refusal({-1, 0}, 0), EBADF);  // NCCL's question whether there is dma-buf at all
  UniqueFd file = sealed_memfd();
  const int closed = file.get();
  file.reset();
  EXPECT_EQ(refusal({closed, 0}, kPage), EBADF);
}

TEST(DmaBuf, WhatCannotBeMappedGivesEopnotsupp) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(refusal({ends[0], 0}, 1), EOPNOTSUPP);
  close(ends[0]);
  close(ends[1]);
}

TEST(DmaBuf, MemoryThatCouldShrinkUnderTheMappingIsRefused) {
  EXPECT_EQ(refusal({sealed_memfd(F_SEAL_GROW).get(), 0}, kPage), EOPNOTSUPP);
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(refusal({file.get(), 0}, kPage, false), EOPNOTSUPP);
}

TEST(DmaBuf, RangesBeyondTheBufferAreRefused) {
  const UniqueFd file = sealed_memfd();
  EXPECT_EQ(refusal({file.get(), 0}, kBytes), 0);
  EXPECT_EQ(refusal({file.get(), 0}, kBytes + 1), EINVAL);
  EXPECT_EQ(refusal({file.get(), kPage}, kBytes), EINVAL);
  EXPECT_EQ(refusal({file.get(), kBytes}, 1), EINVAL);
  EXPECT_EQ(refusal({file.get(), UINT64_MAX}, 2), EINVAL);
  EXPECT_EQ(refusal({file.get(), 1}, UINT64_MAX), EINVAL);
}

TEST(DmaBuf, AReadOnlyDescriptorCannotBeWritten) {
  const UniqueFd file = sealed_memfd();
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  const UniqueFd reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(reader);
  EXPECT_EQ(refusal({reader.get(), 0}, kPage, true), EACCES);
  EXPECT_EQ(refusal({reader.get(), 0}, kPage, false), 0);
}

TEST(DmaBuf, BytesAreThoseOfTheBufferAtAnyOffset) {
  const UniqueFd file = sealed_memfd();
  for (std::uint64_t i = 0; i < kBytes; ++i) {
    const auto byte = static_cast<unsigned char>(i * 7 + i / 256);
    ASSERT_EQ(pwrite(file.get(), &byte, 1, static_cast<off_t>(i)), 1);
  }
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, kPage, kPage + 123}) {
    auto memory = PinnedMemory::pin_dmabuf({file.get(), offset}, 300, 0, true);
    ASSERT_TRUE(memory) << memory.error().message;
    EXPECT_STREQ((*memory)->client().name(), "dma-buf");
    EXPECT_TRUE((*memory)->cpu_reachable());
    for (std::uint64_t i = 0; i < 300; ++i) {
      ASSERT_EQ(bytes_of(**memory)[i],
                static_cast<unsigned char>((offset + i) * 7 + (offset + i) / 256));
    }
  }
  auto memory = PinnedMemory::pin_dmabuf({file.get(), 2 * kPage + 5}, 1, 0, true);
  ASSERT_TRUE(memory);
  *bytes_of(**memory) = 0xee;
  unsigned char back = 0;
  ASSERT_EQ(pread(file.get(), &back, 1, 2 * kPage + 5), 1);
  EXPECT_EQ(back, 0xee);
}

TEST(DmaBuf, MemoryOutlivesTheCallersDescriptor) {
  UniqueFd file = sealed_memfd();
  auto memory = PinnedMemory::pin_dmabuf({file.get(), 0}, kBytes, 0, true);
  ASSERT_TRUE(memory);
  file.reset();
  std::memset(bytes_of(**memory), 0x11, kBytes);
  EXPECT_TRUE((*memory)->still_valid());
  EXPECT_EQ(bytes_of(**memory)[kBytes - 1], 0x11);
}

TEST(DmaBuf, TheCallersFilePositionIsNotMoved) {
  const UniqueFd file = sealed_memfd();
  ASSERT_EQ(lseek(file.get(), 42, SEEK_SET), 42);
  ASSERT_EQ(refusal({file.get(), 0}, kPage), 0);
  EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 42);
}

TEST(DmaBuf, ABufferOfTheKernelsUdmabufIsMapped) {
  const UniqueFd device(open("/dev/udmabuf", O_RDWR | O_CLOEXEC));
  if (!device) GTEST_SKIP() << "no /dev/udmabuf that this user may open: modprobe udmabuf";
  const UniqueFd file = sealed_memfd();
  udmabuf_create create{};
  create.memfd = static_cast<unsigned>(file.get());
  create.size = kBytes;
  const UniqueFd buffer(ioctl(device.get(), UDMABUF_CREATE, &create));
  ASSERT_TRUE(buffer) << std::strerror(errno);
  auto memory = PinnedMemory::pin_dmabuf({buffer.get(), kPage}, kPage, 0, true);
  ASSERT_TRUE(memory) << memory.error().message;
  *bytes_of(**memory) = 0x77;
  unsigned char back = 0;
  ASSERT_EQ(pread(file.get(), &back, 1, kPage), 1);
  EXPECT_EQ(back, 0x77);
}

}  // namespace
}  // namespace gdr::memory
