// cuEvent*, cuStreamWaitEvent.
#include "softgpu/entry_points.h"
#include "softgpu/event.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr unsigned kFlags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

Event* find(Process& process, CUevent handle) {
  auto found = process.events.find(reinterpret_cast<Event*>(handle));
  return found != process.events.end() ? found->second.get() : nullptr;
}

CUresult record(CUevent handle, CUstream on) {
  return in_context([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    Event* event = find(process, handle);
    std::shared_ptr<Stream> stream = find_stream(process, context, on);
    if (event == nullptr || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (event->context()->device() != stream->context()->device()) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (CUresult r = process.captures.on_work(*stream)) return r;
    auto time = std::make_shared<std::atomic<Nanoseconds>>(0);
    Mark mark = issue(*stream, [time] { time->store(now(), std::memory_order_release); });
    event->record(std::move(mark), std::move(time));
    return CUDA_SUCCESS;
  });
}

CUresult wait_on_stream(CUstream on, CUevent handle, unsigned flags) {
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    Event* event = find(process, handle);
    std::shared_ptr<Stream> stream = find_stream(process, context, on);
    if (event == nullptr || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult r = process.captures.on_work(*stream)) return r;
    // An event of the stream itself lies behind already, and one that has no mark waits for
    // nothing.
    if (!event->recorded() || event->mark().stream == stream || event->mark().reached()) {
      return CUDA_SUCCESS;
    }
    issue(*stream, nullptr, {event->mark()});
    return CUDA_SUCCESS;
  });
}

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    Event* first = find(process, start);
    Event* last = find(process, end);
    if (first == nullptr || last == nullptr || !first->recorded() || !last->recorded() ||
        ((first->flags() | last->flags()) & CU_EVENT_DISABLE_TIMING) != 0) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!first->mark().reached() || !last->mark().reached()) return CUDA_ERROR_NOT_READY;
    const auto difference = static_cast<std::int64_t>(last->time() - first->time());
    *milliseconds = static_cast<float>(static_cast<double>(difference) * 1e-6);
    return CUDA_SUCCESS;
  });
}

}  // namespace

GDR_CU cuEventCreate(CUevent* out, unsigned flags) {
  if (out == nullptr || (flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  const bool interprocess = (flags & CU_EVENT_INTERPROCESS) != 0;
  if (interprocess && (flags & CU_EVENT_DISABLE_TIMING) == 0) return CUDA_ERROR_INVALID_VALUE;
  // CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED is 0.
  if (interprocess) return CUDA_ERROR_NOT_SUPPORTED;
  return in_context([&](Process& process, Context& context) {
    auto event = std::make_shared<Event>(&context, flags);
    std::lock_guard guard(process.lock);
    *out = reinterpret_cast<CUevent>(event.get());
    process.events[event.get()] = std::move(event);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuEventDestroy_v2(CUevent handle) {
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    return process.events.erase(reinterpret_cast<Event*>(handle)) == 1 ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_HANDLE;
  });
}

GDR_CU cuEventQuery(CUevent handle) {
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    Event* event = find(process, handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return event->mark().reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

GDR_CU cuEventSynchronize(CUevent handle) {
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    Mark mark;
    {
      std::lock_guard guard(process.lock);
      Event* event = find(process, handle);
      if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
      mark = event->mark();
    }
    mark.wait();
    return CUDA_SUCCESS;
  });
}

GDR_CU cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}
GDR_CU cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

GDR_CU cuEventRecord(CUevent event, CUstream stream) { return record(event, stream); }
GDR_CU cuEventRecord_ptsz(CUevent event, CUstream stream) {
  return record(event, per_thread(stream));
}
GDR_CU cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE : record(event, stream);
}
GDR_CU cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags) {
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE : record(event, per_thread(stream));
}
GDR_CU cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return wait_on_stream(stream, event, flags);
}
GDR_CU cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags) {
  return wait_on_stream(per_thread(stream), event, flags);
}

}  // namespace gdr::softgpu
