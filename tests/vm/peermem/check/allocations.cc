#include <memory>
#include <thread>
#include <vector>

#include "cases.h"
#include "fail.h"
#include "gpu_memory.h"
#include "loopback.h"

namespace peermem_check {
namespace {

constexpr std::size_t kBytes = 4 * kGpuPage;
// The kernel itself refuses 16 TiB.
constexpr std::size_t kMoreThanAnyGpuHas = 8ULL << 40;

class Writer {
 public:
  explicit Writer(Loopback& nic) : nic_(nic) {
    if (!host_region_) fail("ibv_reg_mr of host memory");
  }
  ~Writer() { ibv_dereg_mr(host_region_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  ibv_wc_status write(const ibv_mr* region) {
    return nic_.write(host_.data(), host_region_->lkey,
                      reinterpret_cast<std::uintptr_t>(region->addr), region->rkey, kGpuPage);
  }

 private:
  Loopback& nic_;
  std::vector<std::uint8_t> host_ = std::vector<std::uint8_t>(kGpuPage);
  ibv_mr* host_region_ = ibv_reg_mr(nic_.pd(), host_.data(), kGpuPage, kRights);
};

}  // namespace

void registers_neighbours() {
  Loopback nic;
  const GpuMemory first(kAddress, kBytes);
  const GpuMemory second(kAddress + kBytes, kBytes);
  require(!ibv_reg_mr(nic.pd(), first.data() + kBytes - kGpuPage, 2 * kGpuPage, kRights) &&
              errno == EFAULT,
          "a region over two allocations is registered, or not refused with EFAULT");
  // Neither the first page of its allocation nor all of it.
  ibv_mr* region =
      ibv_reg_mr(nic.pd(), second.data() + kBytes - 2 * kGpuPage, 2 * kGpuPage, kRights);
  if (!region) fail("ibv_reg_mr");
  {
    Writer writer(nic);
    first.free();
    require(writer.write(region) == IBV_WC_SUCCESS, "a write after the neighbour was freed");
    second.free();
    printf("write after the neighbour and the memory itself were freed: %s\n",
           ibv_wc_status_str(writer.write(region)));
  }
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
}

void replaces_while_it_is_pinned() {
  Loopback nic;
  auto gpu = std::make_unique<GpuMemory>(kAddress, kBytes);
  std::uint8_t* data = gpu->data();
  std::thread other([&gpu] {
    wait_for_driver("tables");  // the next pinning waits for a second
    gpu.reset();
    gpu = std::make_unique<GpuMemory>(kAddress, kBytes);
  });
  ibv_mr* region = ibv_reg_mr(nic.pd(), data, kBytes, kRights);
  const int error = errno;
  other.join();
  if (region) {
    printf("registered, a write: %s\n", ibv_wc_status_str(Writer(nic).write(region)));
    require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
  } else {
    printf("%s\n", strerrorname_np(error));
  }
}

void registers_more_than_there_is() {
  Loopback nic;
  const GpuMemory gpu(kAddress, kBytes);
  require(!ibv_reg_mr(nic.pd(), gpu.data(), kMoreThanAnyGpuHas, kRights) && errno == EFAULT,
          "8 TiB are registered, or not refused with EFAULT");
  printf("8 TiB refused\n");
}

}  // namespace peermem_check
