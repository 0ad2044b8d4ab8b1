#include "observe/exports.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace gdr::observe {
namespace {

constexpr pid_t kProcess = 100;

Export made(std::uint64_t inode, std::uint64_t address) {
  return {.device = 7,
          .inode = inode,
          .process = kProcess,
          .memory = {.address = address, .bytes = address * 2, .identity = address * 3}};
}

std::uint64_t address_of(const Exports& exports, std::uint64_t inode) {
  cuda::ObservedDmaBuf found;
  return exports.find(7, inode, kProcess, &found) ? found.address : 0;
}

TEST(ObservedExports, AreFoundByTheNumberOfTheirFile) {
  const auto exports = std::make_unique<Exports>();
  exports->record(made(1, 1000));
  exports->record(made(2, 2000));
  cuda::ObservedDmaBuf found;
  ASSERT_TRUE(exports->find(7, 1, kProcess, &found));
  EXPECT_EQ(found.address, 1000u);
  EXPECT_EQ(found.bytes, 2000u);
  EXPECT_EQ(found.identity, 3000u);
  EXPECT_EQ(address_of(*exports, 2), 2000u);
  EXPECT_FALSE(exports->find(7, 3, kProcess, &found));
  EXPECT_FALSE(exports->find(8, 1, kProcess, &found)) << "a file of another device";
}

TEST(ObservedExports, OfTheParentAreNotTheChilds) {
  const auto exports = std::make_unique<Exports>();
  exports->record(made(1, 1000));
  cuda::ObservedDmaBuf found;
  EXPECT_FALSE(exports->find(7, 1, kProcess + 1, &found));
}

TEST(ObservedExports, ANumberGivenAgainIsTheLatestFiles) {
  const auto exports = std::make_unique<Exports>();
  exports->record(made(1, 1000));
  exports->record(made(1, 5000));
  EXPECT_EQ(address_of(*exports, 1), 5000u);
}

TEST(ObservedExports, TheOldestMakesRoomForTheNewest) {
  const auto exports = std::make_unique<Exports>();
  for (std::uint64_t i = 1; i <= Exports::kMost + 1; ++i) exports->record(made(i, i * 10));
  EXPECT_EQ(address_of(*exports, 1), 0u);
  EXPECT_EQ(address_of(*exports, 2), 20u);
  EXPECT_EQ(address_of(*exports, Exports::kMost + 1), (Exports::kMost + 1) * 10);
}

TEST(ObservedExports, AreWholeWhileOthersAreRecorded) {
  const auto exports = std::make_unique<Exports>();
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (std::uint64_t writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&exports, &stop, writer] {
      for (std::uint64_t i = 1; !stop; ++i) exports->record(made(1, (i << 1) + writer));
    });
  }
  std::uint64_t seen = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (seen < 1000 || std::chrono::steady_clock::now() < end) {
    cuda::ObservedDmaBuf found;
    if (!exports->find(7, 1, kProcess, &found)) continue;
    ++seen;
    if (found.bytes == found.address * 2 && found.identity == found.address * 3) continue;
    ADD_FAILURE() << found.address << ", " << found.bytes << ", " << found.identity;
    break;
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace gdr::observe
