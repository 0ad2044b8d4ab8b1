// cuStreamBeginCapture and what goes with it.
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

template <typename Body>
CUresult with_stream(CUstream handle, Body&& body) {
  return in_context([&](Process& process, Context& context) -> CUresult {
    const std::lock_guard guard(process.lock);
    std::shared_ptr<Stream> stream = find_stream(process, context, handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return body(process.captures, std::move(stream));
  });
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode) {
  return with_stream(handle, [&](Captures& captures, std::shared_ptr<Stream> stream) {
    return captures.begin(std::move(stream), mode);
  });
}

CUresult end(CUstream handle, CUgraph* graph) {
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Captures& captures, const std::shared_ptr<Stream>& stream) {
    return captures.end(*stream, graph);
  });
}

CUresult status_of(CUstream handle, CUstreamCaptureStatus* status) {
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Captures& captures, const std::shared_ptr<Stream>& stream) {
    return captures.status(*stream, status);
  });
}

}  // namespace

GDR_CU cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return begin(stream, mode);
}
GDR_CU cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  return begin(per_thread(stream), mode);
}
GDR_CU cuStreamEndCapture(CUstream stream, CUgraph* graph) { return end(stream, graph); }
GDR_CU cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) {
  return end(per_thread(stream), graph);
}
GDR_CU cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return status_of(stream, status);
}
GDR_CU cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus* status) {
  return status_of(per_thread(stream), status);
}
GDR_CU cuGraphDestroy(CUgraph graph) {
  return in_driver([&](Process& process) {
    const std::lock_guard guard(process.lock);
    return process.captures.destroy(graph);
  });
}

GDR_CU cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL ||
      *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver([&](Process&) {
    std::swap(capture_mode(), *mode);
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
