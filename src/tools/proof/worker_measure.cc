// Worker: figures, by the loops of `gdr perf`: this process is its client, and starts its server.
#include "perf/loopback.h"
#include "proof/worker.h"

namespace gdr::proof {
namespace {

// Long enough for a median that repeats; a proof has some twenty rows.
constexpr perf::Timing kTiming{.warm_up_nanoseconds = 10 * kMillisecond,
                               .slice_nanoseconds = 15 * kMillisecond,
                               .slice_messages = 0,
                               .slices = 7};

}  // namespace

// Where what they hold is known.
Worker::Worker() = default;
Worker::~Worker() = default;

Result<Measure::Reply> Worker::handle(const Measure& request) {
  if (!device_) return Error{EINVAL, "no device open"};
  if (!loopback_) {
    perf::Options options;
    options.libraries.soft = request.soft;
    options.libraries.require_hardware = request.require_hardware;
    const perf::DeviceNames near{opened_.verbs, opened_.cuda, opened_.nic, opened_.port, {}};
    perf::DeviceNames far = near;
    far.nic = request.far_nic;
    far.port = request.far_port;
    Result<std::unique_ptr<perf::Loopback>> loopback = perf::Loopback::open(options, near, far);
    if (!loopback) return loopback.error();
    loopback_ = *std::move(loopback);
  }
  Result<perf::Row> row = loopback_->measure(request.load, kTiming);
  if (!row) {
    loopback_.reset();
    return row.error();
  }
  if (!row->problem.empty()) return Error{EIO, row->problem};
  Measure::Reply reply;
  if (row->rate) reply.messages_per_second = row->rate->median;
  if (row->latency) reply.nanoseconds = row->latency->p50;
  return reply;
}

}  // namespace gdr::proof
