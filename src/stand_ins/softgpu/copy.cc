#include "softgpu/copy.h"

#include <cstring>

namespace gdr::softgpu {
namespace {

using namespace cuda;

// CUDA copies pageable memory up to this size into a buffer of its own and returns; beyond it, the
// call lasts as long as the copy.
constexpr std::uint64_t kMostStaged = 64 * 1024;

// Up to these sizes the driver sends a copy from the host to the device through the compute
// channel, page-locked or not (measured on hardware, which takes a copy engine for two rows and
// more).
constexpr std::uint64_t kMostByComputeChannel = 24 * 1024;
constexpr std::uint64_t kMostPageableByComputeChannel = 64 * 1024;

bool takes_compute_channel(const Plan& plan) {
  return plan.to.on_device && !plan.from.on_device && plan.rows == 1 && !plan.by_copy_engine &&
         plan.bytes <= (plan.from.pageable ? kMostPageableByComputeChannel : kMostByComputeChannel);
}

void carry_out(const Plan& plan) {
  if (plan.behind != nullptr) plan.behind->wait_until_free();
  // memmove: the interface leaves overlapping operands undefined, not this library.
  for (const Move& move : plan.moves) std::memmove(move.to, move.from, move.bytes);
}

// Takes the source out of the caller's hands, so that it may change as soon as the call returns.
void stage(Plan& plan) {
  std::shared_ptr<std::byte[]> staged(new std::byte[plan.bytes]);
  std::byte* next = staged.get();
  for (Move& move : plan.moves) {
    std::memcpy(next, move.from, move.bytes);
    move.from = next;
    next += move.bytes;
  }
  plan.from = {};
  plan.staged = std::move(staged);
}

// `context_syncs`: CU_CTX_SYNC_MEMOPS.
bool must_wait(const Plan& plan, Completion completion, bool context_syncs) {
  if (plan.to.pageable || plan.to.sync_memops || plan.from.sync_memops) return true;
  if (plan.from.pageable && plan.bytes > kMostStaged) return true;
  if (completion != Completion::kOnReturn) return false;
  // A plain copy from device to device is not waited for, even by the calls that are not "Async".
  return context_syncs || !(plan.to.on_device && plan.from.on_device);
}

}  // namespace

Mark issue(Stream& stream, std::function<void()> work, std::vector<Mark> after) {
  for (Mark& mark : stream.context()->implicit_order(stream)) after.push_back(std::move(mark));
  const std::uint64_t ticket = stream.enqueue(std::move(after), std::move(work));
  return {stream.shared_from_this(), ticket};
}

// Which engine of a device carries a copy out is decided here and nowhere else. All go to the
// stream's own thread.
CUresult run_copy(Process& process, Context& context, CUstream handle, Completion completion,
                  const Planner& planner) {
  auto plan = std::make_shared<Plan>();
  std::shared_ptr<Stream> stream;
  std::unique_lock guard(process.lock);
  stream = find_stream(process, context, handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult r = process.captures.on_work(*stream)) return r;
  if (completion == Completion::kOnReturn) {
    if (CUresult r = process.captures.on_unsafe_call()) return r;
  }
  if (CUresult r = planner(process, *stream, plan.get())) return r;
  if (plan->moves.empty()) return CUDA_SUCCESS;
  if (takes_compute_channel(*plan)) {
    plan->behind = process.devices[static_cast<std::size_t>(plan->to.device)].compute_channel;
  }
  const bool wait = must_wait(*plan, completion, stream->context()->syncs_memops());
  if (wait && stream->context()->implicit_order(*stream).empty() && stream->begin_inline()) {
    guard.unlock();
    carry_out(*plan);
    stream->finish_inline();
    return CUDA_SUCCESS;
  }
  if (!wait && plan->from.pageable) {
    guard.unlock();
    stage(*plan);
    guard.lock();
    stream = find_stream(process, context, handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  }
  const Mark mark = issue(*stream, [plan] { carry_out(*plan); });
  guard.unlock();
  if (wait) mark.wait();
  return CUDA_SUCCESS;
}

CUresult copy_bytes(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side,
                    std::uint64_t bytes, CUstream stream, Completion completion, Engine engine) {
  return in_context([&](Process& process, Context& context) {
    return run_copy(process, context, stream, completion,
                    [&](Process&, const Stream& on, Plan* plan) -> CUresult {
                      const int device = on.context()->device();
                      if (CUresult r = resolve(process, to, bytes, to_side, Access::kWrite, device,
                                               &plan->to)) {
                        return r;
                      }
                      if (CUresult r = resolve(process, from, bytes, from_side, Access::kRead,
                                               device, &plan->from)) {
                        return r;
                      }
                      plan->bytes = bytes;
                      plan->by_copy_engine = engine == Engine::kCopyEngine;
                      add_moves(plan->to, 0, plan->from, 0, bytes, &plan->moves);
                      return CUDA_SUCCESS;
                    });
  });
}

}  // namespace gdr::softgpu
