// Copies: from pointers to pieces of memory, and onto a stream.
//
//   return copy_bytes(to, Side::kDevice, from, Side::kEither, bytes, stream,
//   Completion::kOnStream);
//
// A copy is checked completely before a byte moves: one that runs past its allocation's end moves
// nothing.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "softgpu/process.h"

namespace gdr::softgpu {

enum class Access { kRead, kWrite };

// What the caller says an operand is. kDevice must be memory the driver knows (pinned host memory
// is); kEither may be anything: with unified addresses, what is called a host pointer may even be
// device memory.
enum class Side { kDevice, kEither };

// Finds [address, address + bytes). CUDA_ERROR_INVALID_VALUE for memory that is freed, foreign, not
// large enough, or that grants `device` no such access. With Process::lock held.
cuda::CUresult resolve(Process& process, std::uint64_t address, std::uint64_t bytes, Side side,
                       Access access, int device, Span* span);

struct Move {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
};

// The moves that carry `bytes` from one span to another, from these offsets on.
void add_moves(const Span& to, std::uint64_t to_offset, const Span& from, std::uint64_t from_offset,
               std::uint64_t bytes, std::vector<Move>* moves);

// A checked copy, ready to be carried out; the spans keep the memory alive.
struct Plan {
  Span to;
  Span from;
  std::vector<Move> moves;
  std::shared_ptr<std::byte[]> staged;
  std::uint64_t bytes = 0;
  std::uint64_t rows = 1;
  bool by_copy_engine = false;             // as the caller wishes
  std::shared_ptr<ComputeChannel> behind;  // its kernels; null for copies by a copy engine
};
using Planner = std::function<cuda::CUresult(Process&, const Stream&, Plan*)>;

// kOnStream: the call returns once the copy is issued (pageable memory excepted, as in CUDA);
// kOnReturn: when it is done.
enum class Completion { kOnStream, kOnReturn };

// Plans under the lock, then issues on the stream that `stream` stands for.
cuda::CUresult run_copy(Process& process, Context& context, cuda::CUstream stream,
                        Completion completion, const Planner& planner);

// Which engine of the device is to carry a copy out.
enum class Engine { kAny, kCopyEngine };

// One stretch of bytes.
cuda::CUresult copy_bytes(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side,
                          std::uint64_t bytes, cuda::CUstream stream, Completion completion,
                          Engine engine = Engine::kAny);

// Two and three dimensions; the plain structure describes both.
cuda::CUresult copy_box(const cuda::CUDA_MEMCPY3D& box, cuda::CUstream stream,
                        Completion completion);

// Puts `work` on the stream behind what the default-stream rules demand. With Process::lock held.
Mark issue(Stream& stream, std::function<void()> work, std::vector<Mark> after = {});

}  // namespace gdr::softgpu
