// What a program writes into its ledger, and what is read of it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>

#include "base/environment.h"
#include "watching/ledger_file.h"
#include "watching/snapshot.h"

namespace gdr::watching {
namespace {

using ledger::Memory;

class LedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = LedgerFile::make();
    ASSERT_TRUE(made) << made.error().message;
    file_ = std::make_unique<LedgerFile>(*std::move(made));
    written_ = ledger::attach(file_->variable().c_str());
    ASSERT_NE(written_, nullptr);
  }
  void TearDown() override {
    if (written_ != nullptr) munmap(written_, sizeof(ledger::Ledger));
  }
  Snapshot now() const { return take_snapshot(file_->ledger()); }

  std::unique_ptr<LedgerFile> file_;
  ledger::Ledger* written_ = nullptr;
};

TEST_F(LedgerTest, IsAttachedByItsDescriptorWhereItsPathMayNotBeOpened) {
  const std::string value = file_->variable();
  const std::string by_descriptor = "/proc/0/fd/0" + value.substr(value.rfind(':'));
  ledger::Ledger* again = ledger::attach(by_descriptor.c_str());
  ASSERT_NE(again, nullptr);
  ledger::claim_device(*again, "soft0");
  munmap(again, sizeof *again);
  EXPECT_EQ(now().devices.size(), 1U);
}

TEST_F(LedgerTest, IsNoOtherFile) {
  EXPECT_EQ(ledger::attach(nullptr), nullptr);
  for (const char* value :
       {"", ":", "/dev/zero:0", "/etc/passwd:1", "/nowhere:77", "/dev/zero:-1"}) {
    EXPECT_EQ(ledger::attach(value), nullptr) << value;
  }
  const UniqueFd unsealed(memfd_create("gdr-watch-ledger", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), sizeof(ledger::Ledger)), 0);
  const std::uint64_t head[2] = {ledger::kMagic, sizeof(ledger::Ledger)};
  ASSERT_EQ(pwrite(unsealed.get(), head, sizeof head, 0), static_cast<ssize_t>(sizeof head));
  EXPECT_EQ(ledger::attach(("/nowhere:" + std::to_string(unsealed.get())).c_str()), nullptr);
}

TEST_F(LedgerTest, AddsUpADeviceFromItsQueuePairsAndTheRest) {
  ledger::Device* device = ledger::claim_device(*written_, "soft0");
  EXPECT_EQ(ledger::claim_device(*written_, "soft0"), device);
  device->rest.add(ledger::kBytesOut, Memory::kHost, 5);
  ledger::QueuePair* pair = ledger::claim_queue_pair(*written_);
  pair->device = 0;
  pair->counts.add(ledger::kBytesRead, Memory::kGpu, 7);
  pair->counts.add(ledger::kReads, 1);
  EXPECT_EQ(now().all().all(), 5U);  // the queue pair is not ready yet
  ledger::publish(pair->state);
  const Snapshot seen = now();
  ASSERT_EQ(seen.devices.size(), 1U);
  EXPECT_EQ(seen.devices[0].all.all(), 12U);
  EXPECT_EQ(seen.devices[0].all.all_in(Memory::kGpu), 7U);
  EXPECT_EQ(seen.queue_pairs[0].peer_number, std::nullopt);
}

TEST_F(LedgerTest, CountsRecordsBeyondItsArrays) {
  for (std::uint32_t i = 0; i < ledger::kMostRegions; ++i) {
    ASSERT_NE(ledger::claim_region(*written_), nullptr) << i;
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ledger::claim_region(*written_), nullptr);
  EXPECT_EQ(now().more_regions, 10U);
  for (std::uint32_t i = 0; i < 3 * ledger::kMostRegions; ++i) ledger::claim_region(*written_);
  EXPECT_EQ(now().more_regions, ledger::kMostRegions);  // it does not run over
}

TEST_F(LedgerTest, NamesAreCutOffAndFitToBeShown) {
  ledger::claim_device(*written_, std::string(500, 'x').c_str());
  ledger::claim_device(*written_, "a\x1b[2Jb");
  const Snapshot seen = now();
  EXPECT_EQ(seen.devices[0].name, std::string(ledger::kNameBytes - 1, 'x'));
  EXPECT_EQ(seen.devices[1].name, "a [2Jb");
}

// Whoever has the file may write anything into it.
TEST_F(LedgerTest, AnyBytesAreRead) {
  std::mt19937 random(7);
  auto* bytes = reinterpret_cast<unsigned char*>(written_);
  for (int round = 0; round < 8; ++round) {
    for (std::size_t i = 0; i < sizeof(ledger::Ledger); ++i) {
      bytes[i] = static_cast<unsigned char>(random());
    }
    for (auto& one : written_->process) one.state = ledger::kReady;
    for (auto& one : written_->device) one.state = ledger::kReady;
    for (auto& one : written_->region) one.state = ledger::kReady;
    for (auto& one : written_->queue_pair) one.state = ledger::kReady;
    const Snapshot seen = now();
    EXPECT_EQ(seen.queue_pairs.size(), ledger::kMostQueuePairs);
    for (const Region& one : seen.regions) {
      ASSERT_EQ(one.gpu.find('\x1b'), std::string::npos);
      ASSERT_LE(one.error, 0xfff);
    }
  }
}

}  // namespace
}  // namespace gdr::watching
