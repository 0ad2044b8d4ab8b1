// GPU memory of another process that a library in this one opens, too (UCX and PyTorch do): of one
// process's IPC handles, only one context of a GPU may open any.
#include <gtest/gtest.h>
#include <unistd.h>

#include "gpu_side.h"
#include "stopped.h"

namespace gdr::test {
namespace {

constexpr std::size_t kLength = 100'000;

// With memory of cuMemAlloc: its handle goes over the wire first, its queue pair when it is asked
// for. Its bytes are checked at the end.
void own_memory(Wire& wire) {
  use_gpu();
  Side side;
  const GpuMemory gpu(side, Allocator::kMemAlloc);
  cuda::CUipcMemHandle handle{};
  require(memory::soft_gpu::driver()->ipc_get_mem_handle(&handle, gpu.remote().address) ==
              cuda::CUDA_SUCCESS,
          "it has a handle");
  wire.send(handle);
  (void)wire.receive<char>();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  wire.send(side.endpoint(qp));
  wire.send(gpu.remote());
  side.connect(qp, wire.receive<Endpoint>());
  wire.meet();
  (void)wire.receive<char>();
  require(gpu.first_not(1, 50, kLength) == -1, "what was written is there, and only that");
}

// What a library does, in a context.
cuda::CUdeviceptr open_in(cuda::CUcontext context, const cuda::CUipcMemHandle& handle) {
  const cuda::Driver& driver = *memory::soft_gpu::driver();
  cuda::CUdeviceptr address = 0;
  cuda::CUcontext popped = nullptr;
  require(driver.ctx_push_current(context) == cuda::CUDA_SUCCESS, "its context");
  const cuda::CUresult result =
      driver.ipc_open_mem_handle(&address, handle, cuda::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  require(driver.ctx_pop_current(&popped) == cuda::CUDA_SUCCESS, "and back");
  require(result == cuda::CUDA_SUCCESS, "a library opens it: " + driver.describe(result));
  return address;
}

cuda::CUcontext primary_context() {
  cuda::CUcontext context = nullptr;
  require(memory::soft_gpu::driver()->ctx_get_current(&context) == cuda::CUDA_SUCCESS, "current");
  return context;
}

// This process, which writes into the owner's memory.
struct Writer {
  Child& owner;
  Side side;
  Memory& host = side.memory(kLength);
  GpuMemory own{side, Allocator::kVmm};  // its GPU is in use
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  Remote remote{};

  explicit Writer(Child& child) : owner(child) { host.fill_pattern(1, 0, kLength); }
  void connect() {
    owner.wire().send('.');
    remote = connect_to_target(side, qp, owner.wire());
    usleep(300'000);  // opened, if it can be
  }
  void write() {
    side.write(qp, host, 0, kLength, remote, 50);
    side.expect(IBV_WC_SUCCESS);
  }
  void write_alone() {
    const Stopped stopped(owner.pid());
    write();
  }
  void finish() {
    owner.wire().send('.');
    owner.finish();
  }
};

TEST(GpuLibrary, OpeningMemoryFirstSharesItsContextWithTheDevice) {
  Child owner(own_memory);
  use_gpu();
  Writer writer(owner);
  const auto handle = owner.wire().receive<cuda::CUipcMemHandle>();
  const cuda::CUdeviceptr address = open_in(primary_context(), handle);
  writer.connect();
  writer.write_alone();
  EXPECT_EQ(memory::soft_gpu::driver()->ipc_close_mem_handle(address), cuda::CUDA_SUCCESS);
  writer.write_alone();
  writer.finish();
}

TEST(GpuLibrary, OpensTheMemoryThatTheDeviceHasOpenedFirst) {
  Child owner(own_memory);
  use_gpu();
  Writer writer(owner);
  const auto handle = owner.wire().receive<cuda::CUipcMemHandle>();
  writer.connect();
  writer.write_alone();
  const cuda::CUdeviceptr address = open_in(primary_context(), handle);
  std::vector<unsigned char> bytes(kLength);
  EXPECT_EQ(memory::soft_gpu::driver()->memcpy_dtoh(bytes.data(), address + 50, kLength),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(bytes[kLength - 1], pattern(1, kLength - 1));
  EXPECT_EQ(memory::soft_gpu::driver()->ipc_close_mem_handle(address), cuda::CUDA_SUCCESS);
  writer.write_alone();
  writer.finish();
}

// Then the driver refuses the device.
TEST(GpuLibrary, OpeningMemoryInItsOwnContextLeavesCopiesToTheOwner) {
  Child owner(own_memory);
  use_gpu();
  Writer writer(owner);
  const auto handle = owner.wire().receive<cuda::CUipcMemHandle>();
  const cuda::Driver& driver = *memory::soft_gpu::driver();
  cuda::CUcontext context = nullptr, popped = nullptr;
  ASSERT_EQ(driver.ctx_create(&context, 0, 0), cuda::CUDA_SUCCESS);
  ASSERT_EQ(driver.ctx_pop_current(&popped), cuda::CUDA_SUCCESS);
  open_in(context, handle);
  const int before = mapped_gpu_memory();
  writer.connect();
  EXPECT_EQ(mapped_gpu_memory(), before) << "it has not been opened a second time";
  writer.write();
  writer.finish();
}

// What was open in it is gone, and its addresses may be other memory's.
TEST(GpuLibrary, ResettingThePrimaryContextLeavesCopiesToTheOwner) {
  Child owner(own_memory);
  use_gpu();
  Writer writer(owner);
  (void)owner.wire().receive<cuda::CUipcMemHandle>();
  writer.connect();
  writer.write_alone();
  ASSERT_EQ(memory::soft_gpu::driver()->device_primary_ctx_reset(0), cuda::CUDA_SUCCESS);
  use_gpu();
  const std::vector<unsigned char> content(kGpuBytes, 0x77);
  std::vector<std::unique_ptr<memory::soft_gpu::Memory>> next;
  for (int i = 0; i < 4; ++i) {
    next.push_back(std::make_unique<memory::soft_gpu::Memory>(Allocator::kMemAlloc, kGpuBytes));
    next.back()->fill(content);
  }
  writer.write();
  for (const auto& one : next) EXPECT_EQ(one->read(), content) << "nothing was written there";
  writer.finish();
}

}  // namespace
}  // namespace gdr::test
