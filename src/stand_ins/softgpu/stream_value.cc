// cuStreamWaitValue*, cuStreamWriteValue*: a stream that waits for a value in memory, or puts one
// there.
#include <unistd.h>

#include "softgpu/copy.h"
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr unsigned kCondition = 3;
constexpr useconds_t kBetweenLooks = 50;

// Other threads copy to the value with no lock, as an RDMA NIC does.
template <typename Word>
__attribute__((no_sanitize("thread"))) Word look_at(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const Word*>(at), __ATOMIC_ACQUIRE);
}

template <typename Word>
bool is_met(Word found, Word wanted, unsigned condition) {
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<Word>>(found - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & wanted) != 0;
    default:  // CU_STREAM_WAIT_VALUE_NOR
      return static_cast<Word>(~(found | wanted)) != 0;
  }
}

template <typename Word, typename Work>
CUresult issue_at(CUstream handle, CUdeviceptr address, Access access, Work&& work) {
  return with_stream(handle, [&](Process& process, Stream& stream, auto&) -> CUresult {
    if (CUresult r = process.captures.on_work(stream)) return r;
    const int device = stream.context()->device();
    Span span;
    if (address % sizeof(Word) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult r =
            resolve(process, address, sizeof(Word), Side::kDevice, access, device, &span)) {
      return r;
    }
    auto channel = process.devices[static_cast<std::size_t>(device)].compute_channel;
    issue(stream, [piece = span.pieces.front(), channel, work] { work(piece.at, *channel); });
    return CUDA_SUCCESS;
  });
}

// All that a flush would make visible is visible already.
template <typename Word>
CUresult wait(CUstream stream, CUdeviceptr address, Word wanted, unsigned flags) {
  if ((flags & ~(kCondition | CU_STREAM_WAIT_VALUE_FLUSH)) != 0) return CUDA_ERROR_INVALID_VALUE;
  return issue_at<Word>(
      stream, address, Access::kRead, [=](const std::byte* at, ComputeChannel& channel) {
        const auto met = [&] { return is_met(look_at<Word>(at), wanted, flags & kCondition); };
        if (met()) return;
        channel.occupy();
        while (!met()) usleep(kBetweenLooks);
        channel.leave();
      });
}

template <typename Word>
CUresult write(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  if ((flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) != 0) return CUDA_ERROR_INVALID_VALUE;
  return issue_at<Word>(stream, address, Access::kWrite, [=](std::byte* at, ComputeChannel&) {
    __atomic_store_n(reinterpret_cast<Word*>(at), value, __ATOMIC_RELEASE);
  });
}

}  // namespace

#define GDR_STREAM_VALUE(name, function, word)                                           \
  GDR_CU name(CUstream stream, CUdeviceptr address, word value, unsigned flags) {        \
    return function<word>(stream, address, value, flags);                                \
  }                                                                                      \
  GDR_CU name##_ptsz(CUstream stream, CUdeviceptr address, word value, unsigned flags) { \
    return function<word>(per_thread(stream), address, value, flags);                    \
  }
GDR_STREAM_VALUE(cuStreamWaitValue32_v2, wait, std::uint32_t)
GDR_STREAM_VALUE(cuStreamWaitValue64_v2, wait, std::uint64_t)
GDR_STREAM_VALUE(cuStreamWriteValue32_v2, write, std::uint32_t)
GDR_STREAM_VALUE(cuStreamWriteValue64_v2, write, std::uint64_t)
#undef GDR_STREAM_VALUE

}  // namespace gdr::softgpu
