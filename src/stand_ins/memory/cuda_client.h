// CudaClient: GPU memory of a process that has loaded the CUDA driver: cuMemAlloc, mapped VMM
// memory, pools, and memory imported from another process. Copies run on the GPU's copy engines.
//
// A process without CUDA never loads it: all is then another client's. acquire() makes only driver
// calls that need no current context; the engine of a GPU (cuda_engine.h) is made with the first
// registration of its memory.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/spin_lock.h"
#include "cuda/observed_dma_buf.h"
#include "cuda/place.h"
#include "memory/cuda_engine.h"
#include "memory/cuda_exports.h"
#include "memory/peer_memory_client.h"

namespace gdr::memory {

class CudaClient : public PeerMemoryClient {
 public:
  const char* name() const override { return "cuda"; }

  Result<std::unique_ptr<Context>> acquire(std::uint64_t address, std::uint64_t length) override;
  // The driver has no way from a descriptor to its address: where its export was not observed,
  // `iova` must be the GPU address of byte `offset`, as NCCL and UCX pass it. The software GPU's
  // descriptors tell theirs.
  Result<std::unique_ptr<Context>> acquire_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                  std::uint64_t iova) override;
  void release(Context&) override {}

  Result<void> get_pages(Context& context, bool writable) override;
  void put_pages(Context&) override;
  std::uint64_t get_page_size(const Context&) const override { return cuda::kGpuPage; }

  Result<std::uint64_t> dma_map(Context& context) override;
  void dma_unmap(Context&) override {}

  bool cpu_reachable() const override { return false; }
  bool still_valid(const Context& context) override;

  Exported exported(const Context& context) override;
  Result<std::unique_ptr<Context>> open(const Exported& exported, UniqueFd descriptor) override;

  bool is_locked(std::uint64_t address, std::uint64_t length) override;
  bool lock_pages(void* memory, std::size_t bytes) override;
  bool can_copy(const Context& to, const Context& from) override;
  using PeerMemoryClient::start_copy;
  Result<Ticket> start_copy(Side to, Side from, std::uint64_t length, Turn turn) override;
  Result<bool> finished(Ticket ticket) override;
  void go_on() override;
  bool is_over(Ticket ticket) override;

 private:
  static constexpr int kMostDevices = 64;

  Result<std::unique_ptr<Context>> acquire_observed(const cuda::Driver& driver,
                                                    const cuda::ObservedDmaBuf& seen, DmaBuf buffer,
                                                    std::uint64_t length);
  Result<CudaEngine*> engine_of(const cuda::Driver& driver, int ordinal);
  CudaEngine* engine_of(Ticket ticket);
  CudaEngine* engine_for(const cuda::Driver& driver, const Exported& exported);

  bool is_own_staging(std::uint64_t address, std::uint64_t length);

  struct Range {
    std::uint64_t begin, end;
  };
  SpinLock staging_mutex_;
  std::vector<Range> staging_;  // under staging_mutex_: what lock_pages() has locked
  CudaExports exports_;
  std::mutex mutex_;  // making of engines: cold
  std::array<std::atomic<CudaEngine*>, kMostDevices> engines_{};
};

}  // namespace gdr::memory
