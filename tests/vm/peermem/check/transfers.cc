#include <vector>

#include "../../byte_check/memory.h"
#include "cases.h"
#include "fail.h"
#include "gpu_memory.h"
#include "loopback.h"

namespace peermem_check {
namespace {

constexpr std::size_t kBytes = 1 << 20;

struct Buffers {
  Loopback nic;
  GpuMemory gpu{kAddress, kBytes};
  std::vector<std::uint8_t> host = std::vector<std::uint8_t>(kBytes);
  ibv_mr* host_region = ibv_reg_mr(nic.pd(), host.data(), kBytes, kRights);
  ibv_mr* gpu_region = nullptr;

  ~Buffers() {
    if (gpu_region) ibv_dereg_mr(gpu_region);
    ibv_dereg_mr(host_region);
  }
};

std::uint64_t address_of(const std::uint8_t* place) {
  return reinterpret_cast<std::uintptr_t>(place);
}

void write_and_read_all(Buffers& all) {
  byte_check::fill(all.host.data(), kBytes, 1);
  require(all.nic.write(all.host.data(), all.host_region->lkey, address_of(all.gpu.data()),
                        all.gpu_region->rkey, kBytes) == IBV_WC_SUCCESS,
          "RDMA write to GPU memory");
  std::string wrong = byte_check::difference(all.gpu.data(), kBytes, 1);
  require(wrong.empty(), "after the write " + wrong);
  byte_check::fill(all.gpu.data(), kBytes, 2);
  require(all.nic.read(all.host.data(), all.host_region->lkey, address_of(all.gpu.data()),
                       all.gpu_region->rkey, kBytes) == IBV_WC_SUCCESS,
          "RDMA read from GPU memory");
  wrong = byte_check::difference(all.host.data(), kBytes, 2);
  require(wrong.empty(), "after the read " + wrong);
  printf("1 MiB written and read, every byte right\n");
}

// A region of its own that begins and ends within GPU pages; the bytes beside it are guards.
void write_at(Buffers& all, std::size_t at, std::uint32_t bytes) {
  std::uint8_t* place = all.gpu.data() + at;
  ibv_mr* region = ibv_reg_mr(all.nic.pd(), place, bytes, kRights);
  if (!region) fail("ibv_reg_mr at an odd place");
  byte_check::fill(all.gpu.data(), kBytes, 3);
  byte_check::fill(all.host.data(), bytes, 4);
  require(all.nic.write(all.host.data(), all.host_region->lkey, address_of(place), region->rkey,
                        bytes) == IBV_WC_SUCCESS,
          "RDMA write to an odd place");
  for (std::size_t i = 0; i < kBytes; ++i) {
    const bool inside = i >= at && i < at + bytes;
    const std::uint8_t right = inside ? byte_check::pattern(4, i - at) : byte_check::pattern(3, i);
    if (all.gpu.data()[i] == right) continue;
    errno = 0;
    fail("byte " + std::to_string(i) + " after " + std::to_string(bytes) + " were written at " +
         std::to_string(at));
  }
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
}

void refuse_past_the_end(Buffers& all) {
  ibv_mr* region =
      ibv_reg_mr(all.nic.pd(), all.gpu.data() + kBytes - 4096, kGpuPage + 4096, kRights);
  require(!region && errno == EFAULT, "memory past the end is registered, or not with EFAULT");
  // The NIC itself refuses what goes past the end of a region.
  require(
      all.nic.write(all.host.data(), all.host_region->lkey, address_of(all.gpu.data()) + kBytes - 8,
                    all.gpu_region->rkey, 16) == IBV_WC_REM_ACCESS_ERR,
      "a write past the end of the region");
  printf("past the end refused\n");
}

}  // namespace

void transfers() {
  Buffers all;
  all.gpu_region = ibv_reg_mr(all.nic.pd(), all.gpu.data(), kBytes, kRights);
  if (!all.gpu_region) fail("ibv_reg_mr of GPU memory");
  write_and_read_all(all);
  for (const auto& [at, bytes] : {std::pair<std::size_t, std::uint32_t>{70001, 5000},
                                  {65535, 2},
                                  {1, 65534},
                                  {kBytes - 3, 3},
                                  {4095, 200000}}) {
    write_at(all, at, bytes);
  }
  printf("odd places written, nothing beside them\n");
  refuse_past_the_end(all);
}

void registers_once() {
  Loopback nic;
  const GpuMemory gpu(kAddress, kGpuPage);
  ibv_mr* region = ibv_reg_mr(nic.pd(), gpu.data(), kGpuPage, kRights);
  printf("%s\n", region ? "registered" : strerrorname_np(errno));
  if (region) ibv_dereg_mr(region);
}

}  // namespace peermem_check
