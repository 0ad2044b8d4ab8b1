// Device memory as the target of another process.
#include <gtest/gtest.h>

#include <vector>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 1 << 20;

void check_written_and_read() {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      ibv_alloc_dm_attr attr{.length = kBytes, .log_align_req = 6, .comp_mask = 0};
      ibv_dm* dm = ibv_alloc_dm(t.side.context(), &attr);
      require(dm != nullptr, "device memory");
      ibv_mr* mr =
          ibv_reg_dm_mr(t.side.domain(), dm, 0, kBytes, kAllAccess | IBV_ACCESS_ZERO_BASED);
      require(mr != nullptr, "a region of it");
      t.wire.send(Remote{0, kBytes, mr->rkey});
      t.wire.meet();
      std::vector<std::uint8_t> found(kBytes);
      require(ibv_memcpy_from_dm(found.data(), dm, 0, kBytes) == 0, "a copy from it");
      for (std::size_t i = 0; i < kBytes; ++i) {
        require(found[i] == pattern(9, i), "byte " + std::to_string(i));
      }
      require(ibv_free_dm(dm) == EBUSY, "busy while the region lives");
      require(ibv_dereg_mr(mr) == 0 && ibv_free_dm(dm) == 0, "freed");
    });
  });
  Side side;
  Memory& memory = side.memory(2 * kBytes);
  memory.fill_pattern(9, 0, kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  side.write(qp, memory, 0, kBytes, remote);
  side.expect(IBV_WC_SUCCESS);
  side.read(qp, memory, kBytes, kBytes, remote);
  side.expect(IBV_WC_SUCCESS);
  for (std::size_t i = 0; i < kBytes; ++i) {
    ASSERT_EQ(memory.bytes()[kBytes + i], pattern(9, i)) << i;
  }
  child.wire().meet();
  child.finish();
}

TEST(DeviceMemory, IsWrittenAndReadByAnotherProcess) { check_written_and_read(); }
TEST(DeviceMemory, IsWrittenAndReadWhereTheOwnerCopies) { run_opaque(check_written_and_read); }

}  // namespace
}  // namespace gdr::test
