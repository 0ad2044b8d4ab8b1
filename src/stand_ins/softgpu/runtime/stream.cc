// Streams and events.
#include "softgpu/runtime/call.h"

namespace gdr::softgpu::runtime {

using namespace cuda;

GDR_RT cudaStreamCreate(CUstream* stream) {
  return call([&](const Driver& cu) { return cu.stream_create(stream, 0); });
}
GDR_RT cudaStreamCreateWithFlags(CUstream* stream, unsigned flags) {
  return call([&](const Driver& cu) { return cu.stream_create(stream, flags); });
}
GDR_RT cudaStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call(
      [&](const Driver& cu) { return cu.stream_create_with_priority(stream, flags, priority); });
}
GDR_RT cudaStreamDestroy(CUstream stream) {
  return call([&](const Driver& cu) { return cu.stream_destroy(stream); });
}

static cudaError_t synchronize(CUstream stream) {
  return call([&](const Driver& cu) { return cu.stream_synchronize(stream); });
}
GDR_RT cudaStreamSynchronize(CUstream stream) { return synchronize(stream); }
GDR_RT cudaStreamSynchronize_ptsz(CUstream stream) { return synchronize(per_thread(stream)); }

static cudaError_t query(CUstream stream) {
  return call([&](const Driver& cu) { return cu.stream_query(stream); });
}
GDR_RT cudaStreamQuery(CUstream stream) { return query(stream); }
GDR_RT cudaStreamQuery_ptsz(CUstream stream) { return query(per_thread(stream)); }

GDR_RT_STREAM(cudaStreamWaitEvent, (CUevent event, unsigned flags), (event, flags), {
  return call([&](const Driver& cu) { return cu.stream_wait_event(stream, event, flags); });
})
GDR_RT_STREAM(cudaStreamGetFlags, (unsigned* flags), (flags), {
  return call([&](const Driver& cu) { return cu.stream_get_flags(stream, flags); });
})
GDR_RT_STREAM(cudaStreamGetPriority, (int* priority), (priority), {
  return call([&](const Driver& cu) { return cu.stream_get_priority(stream, priority); });
})
GDR_RT_STREAM(cudaStreamIsCapturing, (CUstreamCaptureStatus * status), (status), {
  return call([&](const Driver& cu) { return cu.stream_is_capturing(stream, status); });
})
GDR_RT_STREAM(cudaLaunchHostFunc, (CUhostFn function, void* user_data), (function, user_data), {
  return call([&](const Driver& cu) { return cu.launch_host_func(stream, function, user_data); });
})

GDR_RT cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call([&](const Driver& cu) { return cu.thread_exchange_stream_capture_mode(mode); });
}

GDR_RT cudaEventCreate(CUevent* event) {
  return call([&](const Driver& cu) { return cu.event_create(event, 0); });
}
GDR_RT cudaEventCreateWithFlags(CUevent* event, unsigned flags) {
  return call([&](const Driver& cu) { return cu.event_create(event, flags); });
}
GDR_RT cudaEventDestroy(CUevent event) {
  return call([&](const Driver& cu) { return cu.event_destroy(event); });
}
GDR_RT cudaEventQuery(CUevent event) {
  return call([&](const Driver& cu) { return cu.event_query(event); });
}
GDR_RT cudaEventSynchronize(CUevent event) {
  return call([&](const Driver& cu) { return cu.event_synchronize(event); });
}
GDR_RT cudaEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return call([&](const Driver& cu) { return cu.event_elapsed_time(milliseconds, start, end); });
}
GDR_RT cudaEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return call([&](const Driver& cu) { return cu.event_elapsed_time(milliseconds, start, end); });
}
GDR_RT_ASYNC(cudaEventRecord, (CUevent event), (event),
             { return call([&](const Driver& cu) { return cu.event_record(event, stream); }); })
static cudaError_t record_with(CUevent event, CUstream stream, unsigned flags) {
  if (flags > 1) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) { return cu.event_record(event, stream); });
}
GDR_RT cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return record_with(event, stream, flags);
}
GDR_RT cudaEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags) {
  return record_with(event, per_thread(stream), flags);
}

}  // namespace gdr::softgpu::runtime
