// Registering memory with a NIC: host memory, and GPU memory in either way.
//
//   Result<rdma::MemoryRegion> region =
//       register_buffer(device, pd.get(), *memory, Registration::kDmaBuf, IBV_ACCESS_LOCAL_WRITE);
#pragma once

#include <cstdint>

#include "base/result.h"
#include "participants/memory.h"
#include "rdma/device.h"
#include "rdma/resources.h"

namespace gdr::participants {

enum class RegistrationStage : std::uint8_t { kDone, kAllocate, kExport, kRegister };

// All of `memory`, under its own address. `stage`: where it ended, for who tells causes apart; the
// Error's code is an errno, and a CUresult where exporting failed.
Result<rdma::MemoryRegion> register_buffer(const rdma::Device& device, ibv_pd* pd,
                                           const Memory& memory, Registration registration,
                                           int access, RegistrationStage* stage = nullptr);

}  // namespace gdr::participants
