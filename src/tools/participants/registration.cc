#include "participants/registration.h"

namespace gdr::participants {

Result<rdma::MemoryRegion> register_buffer(const rdma::Device& device, ibv_pd* pd,
                                           const Memory& memory, Registration registration,
                                           int access, RegistrationStage* stage) {
  RegistrationStage ignored{};
  RegistrationStage& reached = stage ? *stage : ignored;
  UniqueFd exported;
  if (registration == Registration::kDmaBuf) {
    reached = RegistrationStage::kExport;
    Result<UniqueFd> fd = memory.export_dmabuf();
    if (!fd) return fd.error();
    exported = *std::move(fd);
  }
  reached = RegistrationStage::kRegister;
  // The descriptor may be closed at once: the region holds the memory (as NCCL does it).
  Result<rdma::MemoryRegion> region =
      registration == Registration::kDmaBuf
          ? rdma::register_dmabuf(device, pd, exported.get(), 0, memory.size(), memory.address(),
                                  access)
          : rdma::register_memory(device, pd, reinterpret_cast<void*>(memory.address()),
                                  memory.size(), access);
  if (region) reached = RegistrationStage::kDone;
  return region;
}

}  // namespace gdr::participants
