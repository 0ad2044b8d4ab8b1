#include "perf/cases/staged.h"

#include <arpa/inet.h>

#include "perf/cases/latency_samples.h"
#include "perf/cases/requests.h"
#include "perf/cases/slicer.h"
#include "perf/cases/windows.h"

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

  // Begins the copy of message number `begun()`, the next one: out of the GPU's memory, or into it
  // from `arrived`.
  Result<void> begin(std::optional<std::uint64_t> arrived = std::nullopt) {
    if (stream_ != nullptr) {
      const Layout& layout = station_.layout();
      const std::uint64_t at =
          (arrived ? layout.incoming(0) : layout.outgoing(0)) + layout.slot(begun_);
      const std::uint64_t host = arrived.value_or(station_.memory().address() + at);
      const std::uint64_t gpu = station_.staged()->address() + at;
      if (auto result =
              driver_->memcpy_async(arrived ? gpu : host, arrived ? host : gpu, size_, stream_)) {
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
        samples_(outcome, task.timing, task.station.plan().load.check ? window() : 1) {}

  void run() {
    if (Result<void> opened = copies_.open(); !opened) return outcome_.fail(opened.error());
    const bool by_windows = task_.is_client && task_.station.plan().load.check;
    if (!task_.is_client) {
      receive();
    } else if (by_windows) {
      send_windows();
    } else {
      send();
    }
    // A message may be told of before its own request has completed here.
    requests_.drain(outcome_);
    if (by_windows) return;  // they have said what was sent
    outcome_.slices = slicer_.slices();
    outcome_.sent = {queue_.posted};
  }

 private:
  std::uint32_t window() const { return task_.station.layout().slots; }
  bool is_latency() const { return task_.measure == Measure::kLatency; }

  // One at a time for latency; else as many as there are buffers.
  void send() {
    const std::uint64_t most = is_latency() ? 1 : window();
    bool sending = true;
    Ticks before = ticks();
    while (go_on() && (sending || told_ < copies_.begun())) {
      const int told = advance(sending ? told_ + most : copies_.begun());
      if (told < 0) return;
      if (told == 0) continue;
      const Ticks after = ticks();
      const bool timed = most != 1 || samples_.note(slicer_.slice(), after - before);
      before = timed ? after : ticks();
      if (sending) sending = samples_.go_on(slicer_, told_, after);
    }
  }

  // With --check. Whole rounds of the buffers: a message then lies in the place of its number, also
  // where it is received into the memory where it stays.
  void send_windows() {
    Windows windows(task_, outcome_, window(), is_latency() ? &samples_ : nullptr);
    windows.run([&](const Window& window) -> std::optional<Ticks> {
      const std::uint64_t all = window.first + window.count;
      Ticks after = ticks();
      while (told_ < all) {
        const Ticks before = after;
        const std::uint64_t end = is_latency() ? told_ + 1 : all;
        while (told_ < end) {
          if (!go_on() || advance(end) < 0) return std::nullopt;
        }
        after = ticks();
        if (is_latency() && !samples_.note(windows.slice(), after - before)) after = ticks();
      }
      return after;
    });
  }

  // Begins the messages before `end`, and moves on what is under way. How often the other side has
  // told what lies there; -1: it failed.
  int advance(std::uint64_t end) {
    while (copies_.begun() < end) {
      if (!began(copies_.begin())) return -1;
    }
    while (queue_.posted < copies_.ended()) {
      if (!post(0)) return -1;
    }
    if (requests_.reap(outcome_) < 0) return -1;
    const int taken = receives_.take(
        outcome_, [&](Station::Queue&, const ibv_wc& wc) { hear(ntohl(wc.imm_data)); });
    return outcome_.done ? taken : -1;
  }

  // The low half of how many lie in their place: no fewer than before, nor more than were sent.
  void hear(std::uint32_t low) {
    const std::uint64_t told = told_ + static_cast<std::uint32_t>(low - told_);
    if (told <= queue_.posted) {
      told_ = told;
    } else {
      outcome_.fail({EPROTO, "the other side acknowledged messages that were never sent"});
    }
  }

  // Tells how many messages lie in their place.
  void receive() {
    while (go_on() && !task_.stopped()) {
      // Its receive is posted again at once; the sender uses the buffer when the copy has ended.
      const int count = receives_.take(outcome_, [&](Station::Queue&, const ibv_wc& wc) {
        ++outcome_.received;
        began(copies_.begin(receives_.place(wc)));
      });
      if (count < 0 || !outcome_.done) return;
      const std::uint64_t ended = copies_.ended();
      if (ended == told_) continue;
      told_ = ended;
      if (!post(static_cast<std::uint32_t>(told_)) || requests_.reap(outcome_) < 0) return;
    }
  }

  bool began(const Result<void>& begun) {
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
