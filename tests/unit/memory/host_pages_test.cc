#include "memory/host_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "mapping.h"

namespace gdr::memory {
namespace {

using Check = Result<void> (*)(std::uint64_t, std::uint64_t, bool);

int refusal(const Result<void>& result) { return result ? 0 : result.error().code; }

std::size_t resident_pages(const Mapping& mapping) {
  std::vector<unsigned char> residency(mapping.size() / kPage);
  mincore(mapping.data(), mapping.size(), residency.data());
  std::size_t count = 0;
  for (const unsigned char page : residency) count += page & 1;
  return count;
}

// AnonHugePages of what the kernel lists inside the range, in bytes.
std::uint64_t huge_bytes(std::uint64_t begin, std::uint64_t end) {
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  std::uint64_t huge = 0;
  bool inside = false;
  while (std::getline(smaps, line)) {
    unsigned long long first = 0, last = 0, kilobytes = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &first, &last) == 2) {
      inside = first < end && last > begin;
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %llu kB", &kilobytes) == 1) {
      huge += kilobytes * 1024;
    }
  }
  return huge;
}

// Whether the kernel makes a huge page of touched memory at all.
bool kernel_collapses() {
  Mapping block(2 * kHugePage);
  const std::uint64_t at = (block.address() + kHugePage - 1) & ~(kHugePage - 1);
  *reinterpret_cast<unsigned char*>(at) = 1;
  return madvise(reinterpret_cast<void*>(at), kHugePage, 25 /* MADV_COLLAPSE */) == 0;
}

// Both ways of checking must agree on what is memory.
class HostPages : public testing::TestWithParam<Check> {};

TEST_P(HostPages, TakeWritableMemory) {
  Mapping memory(16 * kPage);
  EXPECT_EQ(refusal(GetParam()(memory.address(), memory.size(), true)), 0);
  EXPECT_EQ(refusal(GetParam()(memory.address() + 1, 2 * kPage, true)), 0);
  EXPECT_EQ(refusal(GetParam()(memory.address() + 5 * kPage - 1, 2, true)), 0);
}

TEST_P(HostPages, KeepWhatIsInThem) {
  Mapping memory(5 * kHugePage);
  for (std::size_t i = 0; i < memory.size(); i += 509) {
    memory.data()[i] = static_cast<unsigned char>(i * 31 >> 3);
  }
  ASSERT_EQ(refusal(GetParam()(memory.address() + 77, memory.size() - 200, true)), 0);
  for (std::size_t i = 0; i < memory.size(); i += 509) {
    ASSERT_EQ(memory.data()[i], static_cast<unsigned char>(i * 31 >> 3)) << i;
  }
}

TEST_P(HostPages, RefuseAddressesWhereNothingIs) {
  Mapping memory(3 * kPage);
  munmap(memory.data() + kPage, kPage);
  EXPECT_EQ(refusal(GetParam()(memory.address(), 3 * kPage, false)), EFAULT);
  EXPECT_EQ(refusal(GetParam()(memory.address(), kPage + 1, true)), EFAULT);
  EXPECT_EQ(refusal(GetParam()(memory.address(), kPage, true)), 0);
  EXPECT_EQ(refusal(GetParam()(memory.address() + 2 * kPage, kPage, true)), 0);
  EXPECT_EQ(refusal(GetParam()(0, kPage, false)), EFAULT);
  EXPECT_EQ(refusal(GetParam()(std::uint64_t{1} << 63, kPage, false)), EFAULT);
  EXPECT_EQ(refusal(GetParam()(UINT64_MAX - 10, 5, false)), EFAULT);
  EXPECT_EQ(refusal(GetParam()(UINT64_MAX - 10, 500, false)), EFAULT);
}

TEST_P(HostPages, RefuseMemoryThatTheCpuMayNotTouch) {
  Mapping memory(4 * kHugePage, PROT_NONE);
  const auto answer = GetParam()(memory.address(), memory.size(), false);
  EXPECT_EQ(refusal(answer), EFAULT);
  EXPECT_EQ(answer.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(refusal(GetParam()(memory.address(), 8, true)), EFAULT);
}

TEST_P(HostPages, TakeReadOnlyMemoryForReadingOnly) {
  Mapping memory(3 * kPage);
  memory.data()[0] = 1;
  mprotect(memory.data() + kPage, kPage, PROT_READ);
  EXPECT_EQ(refusal(GetParam()(memory.address(), 3 * kPage, false)), 0);
  EXPECT_EQ(refusal(GetParam()(memory.address(), 3 * kPage, true)), EFAULT);
  EXPECT_EQ(refusal(GetParam()(memory.address(), kPage, true)), 0);
}

TEST_P(HostPages, RefuseTheEndOfAMappingBeyondItsFile) {
  const int file = memfd_create("short", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, kPage), 0);
  void* base = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  EXPECT_EQ(refusal(GetParam()(address, kPage, true)), 0);
  EXPECT_EQ(refusal(GetParam()(address, 2 * kPage, true)), EFAULT);
  munmap(base, 2 * kPage);
}

TEST_P(HostPages, TakeNothingAnywhere) { EXPECT_EQ(refusal(GetParam()(0, 0, true)), 0); }

INSTANTIATE_TEST_SUITE_P(Ways, HostPages, testing::Values(&fault_in, &probe),
                         [](const auto& each) { return each.index == 0 ? "FaultIn" : "Probe"; });

TEST(FaultIn, MakesEveryPagePresent) {
  Mapping memory(300 * kPage);
  ASSERT_EQ(resident_pages(memory), 0u);
  ASSERT_TRUE(fault_in(memory.address() + kPage + 5, 200 * kPage, true));
  EXPECT_EQ(resident_pages(memory), 201u);
}

// 8 and 64 MiB, at an odd offset, touched before or not.
class LargeRegistration : public testing::TestWithParam<std::tuple<std::uint64_t, bool>> {};

TEST_P(LargeRegistration, ConsistsOfHugePages) {
  if (!kernel_collapses()) {
    GTEST_SKIP() << "this kernel makes no huge page (MADV_COLLAPSE needs Linux 6.1 with THP)";
  }
  const auto [bytes, touched] = GetParam();
  Mapping memory(bytes + 4 * kHugePage);
  const std::uint64_t address = memory.address() + kHugePage + 12345;
  if (touched) std::memset(memory.data(), 0x3c, memory.size());
  ASSERT_TRUE(fault_in(address, bytes, true));
  const std::uint64_t first = (address + kHugePage - 1) & ~(kHugePage - 1);
  const std::uint64_t last = (address + bytes) & ~(kHugePage - 1);
  EXPECT_GE(huge_bytes(address, address + bytes), last - first);
  if (touched) {
    for (std::size_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory.data()[i], 0x3c) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LargeRegistration,
                         testing::Combine(testing::Values(std::uint64_t{8} << 20,
                                                          std::uint64_t{64} << 20),
                                          testing::Bool()));

}  // namespace
}  // namespace gdr::memory
