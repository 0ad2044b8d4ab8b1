#include "softgpu/capture.h"

#include <algorithm>

#include "softgpu/stream.h"

namespace gdr::softgpu {

using namespace cuda;

CUstreamCaptureMode& capture_mode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

// Drops captures of streams that were destroyed, or whose context was.
void Captures::forget_closed() {
  std::erase_if(captures_, [](const Capture& capture) { return capture.stream->closed(); });
  any_.store(!captures_.empty(), std::memory_order_release);
}

Captures::Capture* Captures::find(const Stream& stream) {
  for (Capture& capture : captures_) {
    if (capture.stream.get() == &stream) return &capture;
  }
  return nullptr;
}

Captures::Capture* Captures::beside_legacy(const Stream& stream) {
  if (stream.kind() != Stream::Kind::kLegacy) return nullptr;
  for (Capture& capture : captures_) {
    if (capture.stream->kind() == Stream::Kind::kBlocking &&
        capture.stream->context() == stream.context()) {
      return &capture;
    }
  }
  return nullptr;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is kept.
CUresult Captures::begin(std::shared_ptr<Stream> stream, CUstreamCaptureMode mode) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  forget_closed();
  if (stream->kind() == Stream::Kind::kLegacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (find(*stream) != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  captures_.push_back({std::move(stream), mode, std::this_thread::get_id()});
  any_.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult Captures::end(const Stream& stream, CUgraph* graph) {
  *graph = nullptr;
  Capture* capture = find(stream);
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->beginner != std::this_thread::get_id()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  const bool was_valid = capture->is_valid;
  captures_.erase(captures_.begin() + (capture - captures_.data()));
  forget_closed();
  if (!was_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto made = std::make_unique<Graph>();
  *graph = reinterpret_cast<CUgraph>(made.get());
  graphs_[*graph] = std::move(made);
  return CUDA_SUCCESS;
}

CUresult Captures::destroy(CUgraph graph) {
  return graphs_.erase(graph) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult Captures::status(const Stream& stream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (beside_legacy(stream) != nullptr) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (const Capture* capture = find(stream)) {
    *status =
        capture->is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  }
  return CUDA_SUCCESS;
}

CUresult Captures::on_work(const Stream& stream) {
  if (!any()) return CUDA_SUCCESS;
  if (Capture* capture = find(stream)) {
    const bool was_valid = capture->is_valid;
    capture->is_valid = false;
    return was_valid ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                     : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  if (Capture* capture = beside_legacy(stream)) {
    capture->is_valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return CUDA_SUCCESS;
}

CUresult Captures::on_unsafe_call() {
  forget_closed();
  const CUstreamCaptureMode mode = capture_mode();
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  CUresult answer = CUDA_SUCCESS;
  for (Capture& capture : captures_) {
    const bool forbids = capture.beginner == std::this_thread::get_id()
                             ? capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED
                             : mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                   capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!forbids) continue;
    capture.is_valid = false;
    answer = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return answer;
}

}  // namespace gdr::softgpu
