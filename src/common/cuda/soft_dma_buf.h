// How a dma-buf descriptor of the software GPU is recognised.
//
//   if (std::optional<cuda::SoftDmaBuf> mine = cuda::identify_soft_dma_buf(fd)) {
//     // [mine->address, mine->address + mine->bytes) of process mine->process, if its pointer
//     still
//     // has CU_POINTER_ATTRIBUTE_BUFFER_ID mine->buffer_id.
//   }
//
// A real driver offers no way from descriptor to address; the software one writes both into the
// descriptor's name. The name proves nothing about who made it: check the buffer id before use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gdr::cuda {

struct SoftDmaBuf {
  int process = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t buffer_id = 0;
};

// Nothing for any other kind of descriptor, and for one that is not open.
std::optional<SoftDmaBuf> identify_soft_dma_buf(int fd);

// The name under which the software GPU creates such a descriptor.
std::string soft_dma_buf_name(const SoftDmaBuf& buffer);

}  // namespace gdr::cuda
