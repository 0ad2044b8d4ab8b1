#include "perf/cases/staged.h"

#include <arpa/inet.h>

#include "perf/cases/latency_samples.h"
#include "perf/cases/requests.h"
#include "perf/cases/slicer.h"

namespace gdr::perf {
namespace {

constexpr std::uint32_t kLook = 256;

// Copies between the GPU's memory and the pinned places, in the order in which they are asked for.
// Where the side's data is not staged there is nothing to copy, and every copy has ended at once.
class Copies {
 public:
  explicit Copies(Task& task) : station_(task.station), size_(task.size) {}
  ~Copies() {
    for (cuda::CUevent event : events_) (void)driver_->event_destroy(event);
    if (stream_ != nullptr) (void)driver_->stream_destroy(stream_);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  Result<void> open() {
    if (station_.staged() == nullptr) return {};
    driver_ = station_.driver();
    if (auto result = driver_->stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING)) {
      return failed("cuStreamCreate", result);
    }
    for (std::uint32_t i = 0; i < station_.layout().slots; ++i) {
      cuda::CUevent event = nullptr;
      if (auto result = driver_->event_create(&event, cuda::CU_EVENT_DISABLE_TIMING)) {
        return failed("cuEventCreate", result);
      }
      events_.push_back(event);
    }
    return {};
  }

  // Message number `begun()`, the next one.
  Result<void> begin(bool out) {
    if (stream_ != nullptr) {
      const Layout& layout = station_.layout();
      const std::uint64_t at =
          (out ? layout.outgoing(0) : layout.incoming(0)) + layout.slot(begun_);
      const std::uint64_t host = station_.memory().address() + at;
      const std::uint64_t gpu = station_.staged()->address() + at;
      if (auto result = driver_->memcpy_async(out ? host : gpu, out ? gpu : host, size_, stream_)) {
        return failed("cuMemcpyAsync", result);
      }
      if (auto result = driver_->event_record(events_[begun_ % events_.size()], stream_)) {
        return failed("cuEventRecord", result);
      }
    }
    ++begun_;
    return {};
  }

  // How many have ended, the first ones.
  std::uint64_t ended() {
    if (stream_ == nullptr) return begun_;
    while (ended_ < begun_ &&
           driver_->event_query(events_[ended_ % events_.size()]) == cuda::CUDA_SUCCESS) {
      ++ended_;
    }
    return ended_;
  }
  std::uint64_t begun() const { return begun_; }

 private:
  Error failed(const char* call, cuda::CUresult result) const {
    return {EIO, std::string(call) + ": " + driver_->describe(result)};
  }

  Station& station_;
  const std::uint64_t size_;
  const cuda::Driver* driver_ = nullptr;
  cuda::CUstream stream_ = nullptr;
  std::vector<cuda::CUevent> events_;
  std::uint64_t begun_ = 0, ended_ = 0;
};

class Staged {
 public:
  Staged(Task& task, Receives& receives, Outcome& outcome)
      : task_(task),
        receives_(receives),
        outcome_(outcome),
        queue_(task.station.queues()[0]),
        copies_(task),
        requests_(Requests::sends(task, task.is_client ? task.size : 0)),
        slicer_(task.timing, task.clock, ticks()),
        samples_(outcome, task.timing) {}

  void run() {
    if (Result<void> opened = copies_.open(); !opened) return outcome_.fail(opened.error());
    task_.is_client ? send() : receive();
    outcome_.slices = slicer_.slices();
    outcome_.sent = {queue_.posted};
  }

 private:
  // One at a time for latency; else as many as there are buffers.
  void send() {
    const std::uint64_t most =
        task_.measure == Measure::kLatency ? 1 : task_.station.layout().slots;
    bool sending = true;
    Ticks before = ticks();
    while (go_on() && (sending || told_ < copies_.begun())) {
      while (sending && copies_.begun() - told_ < most) {
        if (!begin(true)) return;
      }
      while (queue_.posted < copies_.ended()) {
        if (!post(0)) return;
      }
      if (requests_.reap(outcome_) < 0) return;
      const int credits = receives_.take(
          outcome_, [&](Station::Queue&, const ibv_wc& wc) { told_ = ntohl(wc.imm_data); });
      if (credits < 0) return;
      if (credits == 0) continue;
      const Ticks after = ticks();
      const bool timed = most != 1 || samples_.note(slicer_.slice(), after - before);
      before = timed ? after : ticks();
      if (sending) sending = samples_.go_on(slicer_, told_, after);
    }
  }

  // Tells how many messages lie in their place.
  void receive() {
    while (go_on() && !task_.stopped()) {
      const int count =
          receives_.take(outcome_, [&](Station::Queue&, const ibv_wc&) { ++outcome_.received; });
      if (count < 0) return;
      while (copies_.begun() < outcome_.received) {
        if (!begin(false)) return;
      }
      const std::uint64_t ended = copies_.ended();
      if (ended == told_) continue;
      told_ = ended;
      if (!post(static_cast<std::uint32_t>(told_)) || requests_.reap(outcome_) < 0) return;
    }
  }

  bool begin(bool out) {
    const Result<void> begun = copies_.begin(out);
    if (!begun) outcome_.fail(begun.error());
    return static_cast<bool>(begun);
  }

  bool post(std::uint32_t immediate) {
    requests_.set_immediate(immediate);
    while (queue_.posted - queue_.completed >= task_.station.plan().load.depth) {
      if (requests_.reap(outcome_) < 0 || !go_on()) return false;
    }
    if (int code = requests_.post(0)) {
      outcome_.fail(rdma::verbs_error("ibv_post_send", code));
      return false;
    }
    return true;
  }

  bool go_on() { return outcome_.done && !task_.aborted(); }

  Task& task_;
  Receives& receives_;
  Outcome& outcome_;
  Station::Queue& queue_;
  Copies copies_;
  Requests requests_;
  Slicer slicer_;
  LatencySamples samples_;
  std::uint64_t told_ = 0;
};

}  // namespace

void run_staged(Task& task, Receives& receives, Outcome& outcome) {
  Staged(task, receives, outcome).run();
}

}  // namespace gdr::perf
