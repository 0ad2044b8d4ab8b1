// cuStreamBeginCapture and what goes with it.
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUresult begin(CUstream handle, CUstreamCaptureMode mode) {
  return with_stream(handle, [&](Process& process, Stream& stream, auto&) {
    return process.captures.begin(stream.shared_from_this(), mode);
  });
}

CUresult end(CUstream handle, CUgraph* graph) {
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Process& process, Stream& stream, auto&) {
    return process.captures.end(stream, graph);
  });
}

CUresult status_of(CUstream handle, CUstreamCaptureStatus* status) {
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Process& process, Stream& stream, auto&) {
    return process.captures.status(stream, status);
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
