#include "gpu_side.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/clock.h"

namespace gdr::test {

std::string name_of(Allocator allocator) {
  if (allocator == Allocator::kMemAlloc) return "MemAlloc";
  return allocator == Allocator::kVmm ? "Vmm" : "Pool";
}

GpuMemory::GpuMemory(Side& side, Allocator allocator, std::size_t bytes)
    : memory_(allocator, bytes), bytes_(bytes) {
  memory_.fill(std::vector<unsigned char>(bytes, 0xee));
  region_ = ibv_reg_mr(side.domain(), reinterpret_cast<void*>(memory_.address()), bytes,
                       static_cast<int>(kAllAccess));
  require(region_ != nullptr, "GPU memory is registered");
}

void GpuMemory::deregister() {
  if (region_ != nullptr) ibv_dereg_mr(region_);
  region_ = nullptr;
}

void GpuMemory::fill_pattern(std::uint64_t seed, std::size_t offset, std::size_t length) {
  std::vector<unsigned char> bytes = memory_.read();
  for (std::size_t i = 0; i < length; ++i) bytes[offset + i] = pattern(seed, i);
  memory_.fill(bytes);
}

std::int64_t GpuMemory::first_not(std::uint64_t seed, std::size_t offset,
                                  std::size_t length) const {
  const std::vector<unsigned char> bytes = memory_.read();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool inside = i >= offset && i < offset + length;
    if (bytes[i] != (inside ? pattern(seed, i - offset) : 0xee)) {
      return static_cast<std::int64_t>(i);
    }
  }
  return -1;
}

void use_gpu() {
  const cuda::Driver* driver = memory::soft_gpu::driver();
  require(driver != nullptr, "the software GPU is there");
  cuda::CUcontext primary = nullptr;
  require(driver->device_primary_ctx_retain(&primary, 0) == cuda::CUDA_SUCCESS &&
              driver->ctx_set_current(primary) == cuda::CUDA_SUCCESS,
          "its context is current");
}

bool is_real_gpu() { return getenv(memory::soft_gpu::kRealDriver) != nullptr; }

int mapped_gpu_memory() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:gdrkit-soft-gpu") != std::string::npos) ++count;
  }
  return count;
}

bool has_opened_more_than(int before) {
  if (!is_real_gpu()) return mapped_gpu_memory() > before;
  usleep(1'000'000);
  return true;
}

void be_gpu_target(Wire& wire, Allocator allocator, std::size_t bytes,
                   const std::function<void(GpuMemory&, Side&)>& body) {
  use_gpu();
  be_target(wire, {.bytes = 4096}, [&](TargetSide target) {
    GpuMemory gpu(target.side, allocator, bytes);
    wire.send(gpu.remote());
    body(gpu, target.side);
  });
}

Loopback::Loopback() { renew(); }

void Loopback::renew() {
  if (qp != nullptr) ibv_destroy_qp(qp);
  qp = side.queue_pair(IBV_QPT_RC, 256, true);
  side.connect(qp, side.endpoint(qp));
}

void Loopback::write(const ibv_sge& from, const Remote& to, std::size_t offset) {
  post(IBV_WR_RDMA_WRITE, from, to, offset);
}

void Loopback::read(const ibv_sge& into, const Remote& from, std::size_t offset) {
  post(IBV_WR_RDMA_READ, into, from, offset);
}

void Loopback::post(ibv_wr_opcode opcode, const ibv_sge& segment, const Remote& remote,
                    std::size_t offset) {
  ibv_send_wr request{};
  request.opcode = opcode;
  request.wr.rdma = {remote.address + offset, remote.key};
  side.post(qp, request, {segment});
}

}  // namespace gdr::test
