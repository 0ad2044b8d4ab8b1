#include "watching/usage.h"

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

namespace gdr::watching {
namespace {

Snapshot process_with(std::uint64_t libraries) {
  Snapshot calls;
  calls.processes.push_back({.pid = 10, .program = "train", .libraries = libraries});
  return calls;
}

TEST(RunUsage, CountsWhatWentThroughTheDevicesThatWereOpened) {
  Snapshot calls = process_with(ledger::kSoftNic | ledger::kVerbs | ledger::kManager);
  Counts counts;
  counts.bytes[ledger::kBytesOut][2] = 4096;
  calls.devices = {{"soft0", 2, counts}, {"soft1", 0, {}}};
  calls.made_queue_pairs = 3;
  EXPECT_EQ(usage_line({.soft_nic = true, .soft_gpu = true}, calls, {}),
            "software NIC: opened soft0, 3 queue pairs, 4 KiB; loaded libibverbs, librdmacm; "
            "software GPU: not used");
}

TEST(RunUsage, SaysThatNothingWasOpenedAndWhatWasChosenInstead) {
  EXPECT_EQ(
      usage_line({.soft_nic = true},
                 process_with(ledger::kSoftNic | ledger::kVerbs | ledger::kUcx | ledger::kUcxIb),
                 {{10, {.program = "train", .readable = true, .connections = 2}}}),
      "this program did not use the software NIC: it loaded libibverbs, UCX and opened no "
      "device; UCX chose another transport (UCX_LOG_LEVEL=info shows it); it had TCP "
      "connections open");
}

constexpr std::uint64_t kWithUcx =
    ledger::kSoftNic | ledger::kVerbs | ledger::kUcx | ledger::kUcxIb;

std::map<pid_t, SeenProcess> sharing_memory() {
  return {{10,
           {.program = "train",
            .libraries = kWithUcx,
            .readable = true,
            .connections = 1,
            .shares_ucx_memory = true}}};
}

TEST(RunUsage, SaysThatUcxChoseSharedMemoryAndWhy) {
  Snapshot calls = process_with(kWithUcx);
  calls.devices = {{"soft0", 1, {}}};
  calls.made_queue_pairs = 2;
  EXPECT_EQ(usage_line({.soft_nic = true}, calls, sharing_memory()),
            "software NIC: opened soft0, 2 queue pairs, 0 B; loaded libibverbs, UCX; UCX chose "
            "shared memory, since the other "
            "process is on this host (UCX_TLS=rc chooses the software NIC); it had TCP connections "
            "open");
}

TEST(RunUsage, SaysThatUcxUsedSharedMemoryBesideTheDevice) {
  Snapshot calls = process_with(kWithUcx);
  Counts counts;
  counts.bytes[ledger::kBytesOut][2] = 4096;
  calls.devices = {{"soft0", 1, counts}};
  calls.made_queue_pairs = 2;
  EXPECT_EQ(usage_line({.soft_nic = true}, calls, sharing_memory()),
            "software NIC: opened soft0, 2 queue pairs, 4 KiB; loaded libibverbs, UCX; UCX used "
            "shared memory as well, since "
            "the other process is on this host (UCX_TLS=rc chooses the software NIC alone)");
}

// What the other side writes into its memory does not count.
TEST(RunUsage, DoesNotBlameUcxWhereQueuePairsMayHaveServedThePeer) {
  Snapshot calls = process_with(kWithUcx);
  calls.devices = {{"soft0", 1, {}}};
  calls.made_queue_pairs = 1;
  EXPECT_EQ(
      usage_line({.soft_nic = true}, calls, {{10, {.program = "train", .libraries = kWithUcx}}}),
      "software NIC: opened soft0, 1 queue pair, 0 B; loaded libibverbs, UCX");
}

TEST(RunUsage, SaysThatUcxChoseAnotherTransportThoughItTriedADevice) {
  Snapshot calls = process_with(kWithUcx);
  calls.devices = {{"soft0", 1, {}}};
  calls.made_queue_pairs = 1;
  calls.queue_pairs.resize(1);
  EXPECT_EQ(usage_line({.soft_nic = true}, calls, {}),
            "software NIC: opened soft0, 1 queue pair, 0 B; loaded libibverbs, UCX; UCX chose "
            "another transport (UCX_LOG_LEVEL=info shows it)");
  calls.queue_pairs[0].state = IBV_QPS_RTR;
  EXPECT_EQ(usage_line({.soft_nic = true}, calls, {}),
            "software NIC: opened soft0, 1 queue pair, 0 B; loaded libibverbs, UCX");
}

TEST(RunUsage, TellsNvshmemsUserThatItWantsNicsInThePciTree) {
  Snapshot calls =
      process_with(ledger::kSoftNic | ledger::kVerbs | ledger::kNccl | ledger::kNvshmem);
  EXPECT_EQ(usage_line({.soft_nic = true}, calls, {}),
            "this program did not use the software NIC: it loaded libibverbs, NCCL, NVSHMEM and "
            "opened no device; NVSHMEM takes only NICs that have a place in the PCI tree "
            "(GDR_SOFT_DEVICES=soft0/pci=ADDRESS, docs/run.md)");
  EXPECT_EQ(usage_line({.soft_nic = true, .has_places = true}, calls, {}),
            "this program did not use the software NIC: it loaded libibverbs, NCCL, NVSHMEM and "
            "opened no device; NCCL chose another network ('gdr nccl run' says why)");
}

TEST(RunUsage, TellsAnotherLibibverbsFromNone) {
  EXPECT_EQ(usage_line({.soft_nic = true}, {}, {}),
            "this program did not use the software NIC: it loaded no libibverbs");
  const std::map<pid_t, SeenProcess> other = {
      {10, {.program = "train", .libraries = ledger::kVerbs, .readable = true}}};
  EXPECT_EQ(usage_line({.soft_nic = true, .has_rpath = true}, {}, other),
            "this program did not use the software NIC: it loaded another libibverbs (DT_RPATH)");
}

TEST(RunUsage, SaysIntoWhatNothingCanBeLoaded) {
  std::map<pid_t, SeenProcess> seen = {
      {10, {.program = "sh", .readable = true}},
      {11, {.program = "train", .readable = true, .is_static = true}}};
  EXPECT_EQ(
      usage_line({.soft_nic = true}, {}, seen),
      "this program did not use the software NIC: it loaded no libibverbs; train is statically "
      "linked");
  seen[12] = {.program = "mount.x", .gained_rights = true};
  EXPECT_EQ(usage_line({.soft_nic = true}, {}, seen),
            "this program did not use the software NIC: it loaded no libibverbs; mount.x is "
            "set-user-ID or set-group-ID, so the loader ignored LD_LIBRARY_PATH");
}

TEST(RunUsage, SaysWhatShowsTheDeviceToWhomNetlinkDoesNot) {
  EXPECT_EQ(usage_line({.soft_nic = true, .asks_netlink = true}, {}, {}),
            "this program did not use the software NIC: it asks the kernel by netlink, which knows "
            "no software NIC; 'ibstat' and 'ibv_devinfo' show it");
}

TEST(RunUsage, TellsLibfabricsUserWhenThereIsNoInterfaceToLookBehind) {
  Snapshot calls = process_with(ledger::kSoftNic | ledger::kVerbs | ledger::kFabric);
  calls.devices = {{"soft0", 1, {}}};
  calls.made_queue_pairs = 66;  // libfabric tries what the device can do
  const std::string opened =
      "software NIC: opened soft0, 66 queue pairs, 0 B; loaded libibverbs, libfabric; libfabric ";
  EXPECT_EQ(usage_line({.soft_nic = true}, calls, {}),
            opened + "moved nothing over it (FI_LOG_LEVEL=info shows why)");
  EXPECT_EQ(usage_line({.soft_nic = true, .only_loopback = true}, calls, {}),
            opened +
                "looks for it behind network interfaces other than loopback, and none is up here; "
                "as root: ip link add rdma0 type veth peer name rdma1; ip address add 10.0.0.1/24 "
                "dev rdma0; ip link set rdma0 up");
  calls.devices[0].all.bytes[ledger::kBytesOut][0] = 1;
  EXPECT_EQ(usage_line({.soft_nic = true, .only_loopback = true}, calls, {}),
            "software NIC: opened soft0, 66 queue pairs, 1 B; loaded libibverbs, libfabric");
}

TEST(RunUsage, SaysNothingOfWhatWasNotOffered) {
  EXPECT_EQ(usage_line({.soft_gpu = true}, process_with(ledger::kSoftGpu), {}),
            "software GPU: used");
}

}  // namespace
}  // namespace gdr::watching
