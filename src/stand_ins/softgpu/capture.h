// Captures: which streams are being captured (cuStreamBeginCapture), and what must not happen
// beside it: cuThreadExchangeStreamCaptureMode of the driver's manual has the rules.
//
// There are no graphs here, so nothing can be captured: work put on a capturing stream is refused,
// and the graph that a capture ends with is empty. What it serves for is what happens beside it. A
// call that is not put on a stream would be missing when a graph is launched again; it is refused
// to threads that have not said, by their mode, that they know what they do, and the capture is
// spoilt.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "cuda/driver_abi.h"

namespace gdr::softgpu {

class Stream;
struct Graph {};

class Captures {
 public:
  // May be asked without the lock.
  bool any() const { return any_.load(std::memory_order_acquire); }

  // All that follows: with Process::lock held.
  cuda::CUresult begin(std::shared_ptr<Stream> stream, cuda::CUstreamCaptureMode mode);
  // The graph is the caller's until destroy().
  cuda::CUresult end(const Stream& stream, cuda::CUgraph* graph);
  cuda::CUresult destroy(cuda::CUgraph graph);
  cuda::CUresult status(const Stream& stream, cuda::CUstreamCaptureStatus* status);
  // The result of putting work on the stream.
  cuda::CUresult on_work(const Stream& stream);
  // The result of a call of this thread that uses no stream.
  cuda::CUresult on_unsafe_call();

 private:
  struct Capture {
    std::shared_ptr<Stream> stream;
    cuda::CUstreamCaptureMode mode;
    std::thread::id beginner;
    bool is_valid = true;
  };
  Capture* find(const Stream& stream);
  // A blocking stream's, which the legacy default stream would have to wait for.
  Capture* beside_legacy(const Stream& stream);
  void forget_closed();

  std::vector<Capture> captures_;
  std::atomic<bool> any_{false};
  std::map<cuda::CUgraph, std::unique_ptr<Graph>> graphs_;
};

// The mode of the calling thread.
cuda::CUstreamCaptureMode& capture_mode();

}  // namespace gdr::softgpu
