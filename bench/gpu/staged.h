// Staged transfers, what programs do without GPUDirect RDMA: from the GPU into pinned memory, from
// there by RC write into the peer's pinned memory, from there into its GPU. In one chunk, one leg
// follows the other; in several, the legs overlap.
#pragma once

#include <cstddef>

#include "side.h"

namespace gdr::bench {

constexpr std::size_t kStagedChunk = 1 << 20;
// Two would be a double buffer; more take up what one leg waits for another now and then.
constexpr std::size_t kStagedSlots = 4;
static_assert(kStagedSlots <= Gpu::kMarks);

// `count` transfers, one after another, each until it is in the peer's GPU memory. The peer carries
// out take_staged() of the same meanwhile.
void give_staged(Side& side, std::size_t bytes, std::size_t chunk, int count);
void take_staged(Side& side, std::size_t bytes, std::size_t chunk, int count);

}  // namespace gdr::bench
