// What tests of GPU memory share: a GPU buffer registered by a process, processes that have one,
// and a queue pair connected to itself. On the software GPU, or on the one whose driver
// GDR_TEST_CUDA names.
//
//   Loopback loop;                                     // this process's GPU is in use
//   GpuMemory gpu(loop.side, Allocator::kVmm);
//   loop.write(host, 0, 100, gpu.remote(), 7);
//   loop.side.expect(IBV_WC_SUCCESS);
//   EXPECT_EQ(gpu.first_not(1, 7, 100), -1);           // those bytes, and no others
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "connection.h"
#include "soft_gpu.h"

namespace gdr::test {

using memory::soft_gpu::Allocator;

constexpr std::size_t kGpuBytes = 4 << 20;
constexpr Allocator kAllocators[] = {Allocator::kMemAlloc, Allocator::kVmm, Allocator::kPool};
std::string name_of(Allocator allocator);

// A GPU buffer of a process, registered whole; around what a test writes every byte stays 0xee.
class GpuMemory {
 public:
  GpuMemory(Side& side, Allocator allocator, std::size_t bytes = kGpuBytes);
  ~GpuMemory() { deregister(); }
  void deregister();

  memory::soft_gpu::Memory& memory() { return memory_; }
  Remote remote() const { return {memory_.address(), bytes_, region_->rkey}; }
  ibv_sge segment(std::size_t offset, std::size_t length) const {
    return {memory_.address() + offset, static_cast<std::uint32_t>(length), region_->lkey};
  }
  void fill_pattern(std::uint64_t seed, std::size_t offset, std::size_t length);
  // Where it first differs from the pattern at that place and 0xee around it; -1: nowhere.
  std::int64_t first_not(std::uint64_t seed, std::size_t offset, std::size_t length) const;

 private:
  memory::soft_gpu::Memory memory_;
  std::size_t bytes_;
  ibv_mr* region_ = nullptr;
};

// Makes the GPU's primary context current.
void use_gpu();
bool is_real_gpu();  // and not the software GPU

// How many pieces of GPU memory this process has mapped, its own and others'.
int mapped_gpu_memory();
// That another process's memory has been opened since `before`. A genuine driver shows it nowhere.
bool has_opened_more_than(int before);

// A process with GPU memory and a queue pair, which does nothing by itself.
void be_gpu_target(Wire& wire, Allocator allocator, std::size_t bytes,
                   const std::function<void(GpuMemory&, Side&)>& body);

class UsesGpu {
 protected:
  UsesGpu() { use_gpu(); }
};

// A queue pair connected to itself, so that both ends of a request are this process.
struct Loopback : private UsesGpu {
  Loopback();
  void renew();  // after an error, which ends a queue pair
  void write(const ibv_sge& from, const Remote& to, std::size_t offset);
  void read(const ibv_sge& into, const Remote& from, std::size_t offset);

  Side side;
  ibv_qp* qp = nullptr;

 private:
  void post(ibv_wr_opcode opcode, const ibv_sge& segment, const Remote& remote, std::size_t offset);
};

}  // namespace gdr::test
