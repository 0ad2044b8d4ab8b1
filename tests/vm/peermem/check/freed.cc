#include <unistd.h>

#include <thread>
#include <vector>

#include "../../byte_check/memory.h"
#include "cases.h"
#include "fail.h"
#include "gpu_memory.h"
#include "loopback.h"

namespace peermem_check {
namespace {

constexpr std::size_t kBytes = 16 * kGpuPage;
constexpr useconds_t kHalfOfMapping = 150'000;  // the test has mapping wait for 300 ms

}  // namespace

void frees_under_a_registration() {
  Loopback nic;
  std::vector<std::uint8_t> host(kBytes);
  ibv_mr* host_region = ibv_reg_mr(nic.pd(), host.data(), kBytes, kRights);
  GpuMemory gpu(kAddress, kBytes);
  ibv_mr* region = ibv_reg_mr(nic.pd(), gpu.data(), kBytes, kRights);
  if (!region || !host_region) fail("ibv_reg_mr");
  gpu.free();
  // Whoever gets memory now must not get what a NIC still writes to.
  const GpuMemory other(kAddress + kBytes, kBytes);
  byte_check::fill(other.data(), kBytes, 5);
  byte_check::fill(host.data(), kBytes, 6);
  const ibv_wc_status done =
      nic.write(host.data(), host_region->lkey, kAddress, region->rkey, kBytes);
  const std::string wrong = byte_check::difference(other.data(), kBytes, 5);
  require(wrong.empty(), "memory of somebody else was written to: " + wrong);
  printf("write to freed memory: %s\n", ibv_wc_status_str(done));
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr of freed memory");
  ibv_dereg_mr(host_region);
}

void frees_while_it_is_mapped() {
  Loopback nic;
  const GpuMemory gpu(kAddress, kBytes);
  std::thread other([&gpu] {
    usleep(kHalfOfMapping);
    gpu.free();
  });
  ibv_mr* region = ibv_reg_mr(nic.pd(), gpu.data(), kBytes, kRights);
  const int error = errno;
  other.join();
  printf("registration of memory that is freed: %s\n",
         region ? "registered" : strerrorname_np(error));
  if (region) require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
}

void deregisters_while_it_is_freed() {
  Loopback nic;
  const GpuMemory gpu(kAddress, kBytes);
  ibv_mr* region = ibv_reg_mr(nic.pd(), gpu.data(), kBytes, kRights);
  if (!region) fail("ibv_reg_mr");
  std::thread other([&gpu] { gpu.free(); });
  wait_for_driver("callbacks");  // each takes 3 s
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
  other.join();
  printf("deregistered\n");
}

void holds(unsigned mebibytes) {
  Loopback nic;
  const std::size_t bytes = static_cast<std::size_t>(mebibytes) << 20;
  const GpuMemory gpu(kAddress, bytes);
  if (!ibv_reg_mr(nic.pd(), gpu.data(), bytes, kRights)) fail("ibv_reg_mr");
  printf("registered\n");
  fflush(stdout);
  for (;;) pause();
}

}  // namespace peermem_check
