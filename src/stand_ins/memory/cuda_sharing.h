// GPU memory between processes of one host: what its owner tells of it, and how another process
// opens it: CUDA IPC for cuMemAlloc, an exported descriptor for mapped VMM memory.
//
//   // the owner
//   Exported exported = export_memory(driver, engine, {.address = base, .length = bytes});
//   // another process
//   auto opened = OpenedMemory::open(driver, engine, exported, std::move(descriptor));
//
// An allocation that is opened elsewhere stays alive until it is closed there, also after its owner
// has freed it: what is still written then goes to memory that nobody has. That does not hold for
// small ones, which the driver cuts from a block that it uses again: they are not exported.
//
// In another process only one context of each GPU may open a process's IPC handles
// (cuIpcOpenMemHandle). Libraries (UCX, NCCL, PyTorch) use the primary context, so this does too if
// there is one, and the driver counts the uses. If another context was first, the memory is not
// opened, and its owner copies.
#pragma once

#include <memory>

#include "memory/cuda_engine.h"
#include "memory/peer_memory_client.h"

namespace gdr::memory {

// `range`: address, length and identity of an allocation or a mapping; the rest is filled in. kNone
// when the driver refuses: pools, small allocations, memory that was not made to be shared. The
// descriptor of kDescriptor is the caller's to close.
Exported export_memory(const cuda::Driver& driver, const CudaEngine& engine, Exported range);

class OpenedMemory {
 public:
  // For copies by that engine. EOPNOTSUPP where it cannot be reached from here.
  static Result<std::unique_ptr<OpenedMemory>> open(const cuda::Driver& driver,
                                                    const CudaEngine& engine,
                                                    const Exported& exported, UniqueFd descriptor);
  ~OpenedMemory();  // no copy is in flight
  OpenedMemory(const OpenedMemory&) = delete;
  OpenedMemory& operator=(const OpenedMemory&) = delete;

  std::uint64_t address() const { return address_; }
  // The identity that its address must still have; 0 if the memory cannot go away. The program may
  // end its primary context, and with it what is open there.
  std::uint64_t buffer_id() const { return buffer_id_; }

 private:
  OpenedMemory(const cuda::Driver& driver, const CudaEngine& engine, Exported::Kind kind,
               std::uint64_t bytes)
      : driver_(driver), engine_(engine), kind_(kind), bytes_(bytes) {}
  cuda::CUresult open_handle(const Exported& exported);
  cuda::CUresult open_handle_here(const Exported& exported);
  cuda::CUresult map_descriptor(int descriptor);

  const cuda::Driver& driver_;
  const CudaEngine& engine_;
  const Exported::Kind kind_;
  const std::uint64_t bytes_;
  cuda::CUdeviceptr address_ = 0;  // 0: nothing has been opened
  std::uint64_t buffer_id_ = 0;    // not 0: open in the primary context
  bool is_reserved_ = false, is_mapped_ = false;
};

}  // namespace gdr::memory
