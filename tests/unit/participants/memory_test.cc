#include "participants/memory.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <fstream>
#include <string>
#include <vector>

namespace gdr::participants {
namespace {

// "KernelPageSize:     2048 kB" of the mapping that holds `address`, in bytes.
std::uint64_t page_size_at(std::uint64_t address) {
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long from = 0, to = 0, kilobytes = 0;
    if (sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) inside = from <= address && address < to;
    if (inside && sscanf(line.c_str(), "KernelPageSize: %lu kB", &kilobytes) == 1) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

TEST(HostMemory, IsReadAsItWasWritten) {
  Result<Memory> memory = Memory::allocate(MemoryKind::kHost, 10'000, {});
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_GE(memory->size(), 10'000u);
  const std::vector<std::byte> written(100, std::byte{7});
  ASSERT_TRUE(memory->write(9'900, written));
  std::vector<std::byte> read(100);
  ASSERT_TRUE(memory->read(9'900, read));
  EXPECT_EQ(read, written);
  EXPECT_FALSE(memory->write(memory->size() - 99, written)) << "it would end outside";
}

TEST(HostMemory, LiesInHugePagesWhereTheyAreAskedFor) {
  Result<Memory> memory = Memory::allocate(MemoryKind::kHost, 3 << 20, {}, Pages::kHuge);
  if (!memory) GTEST_SKIP() << memory.error().message;
  const std::uint64_t page = page_size_at(memory->address());
  EXPECT_GE(page, 2u << 20);
  EXPECT_EQ(memory->address() % page, 0u);
  EXPECT_EQ(memory->size() % page, 0u);
  EXPECT_GE(memory->size(), 3u << 20);
  const std::vector<std::byte> written(100, std::byte{7});
  EXPECT_TRUE(memory->write(memory->size() - 100, written));
}

TEST(HostMemory, SaysHowManyHugePagesAreMissingAndHowToGetThem) {
  Result<Memory> memory =
      Memory::allocate(MemoryKind::kHost, std::uint64_t{1} << 38, {}, Pages::kHuge);
  ASSERT_FALSE(memory) << "no machine has so much set aside";
  const std::string& text = memory.error().message;
  if (memory.error().code == ENOTSUP) GTEST_SKIP() << text;
  EXPECT_NE(text.find(" huge pages of "), std::string::npos) << text;
  EXPECT_NE(text.find(" are needed, but only "), std::string::npos) << text;
  EXPECT_NE(text.find(" are free; reserve more: sudo sysctl vm.nr_hugepages="), std::string::npos)
      << text;
}

}  // namespace
}  // namespace gdr::participants
