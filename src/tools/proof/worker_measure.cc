// Worker: figures, by the loops of `gdr perf`: this process is its client. The server is a process
// that it starts, or the one of B's host.
#include "perf/loopback.h"
#include "perf/rows.h"
#include "proof/hosts/visit.h"
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

Result<process::Connection> Worker::find_row_server(const Measure& request) {
  if (!request.server.host.empty()) {
    const Result<std::optional<perf::Secret>> secret =
        perf::Secret::read_given(request.server.given_secret());
    if (!secret) return secret.error();
    // The version was compared when the proof began.
    Result<Visit> visit = Visit::pay(request.server, {}, *secret);
    if (!visit) return visit.error();
    return std::move(*visit).begin_rows(request.server.ticket);
  }
  perf::Options options;
  options.libraries.soft = request.soft;
  options.libraries.require_hardware = request.require_hardware;
  Result<process::Worker> started = perf::start_loopback_server(
      options, {{opened_.verbs, opened_.cuda, request.far_nic, request.far_port, {}}});
  if (!started) return started.error();
  row_server_.emplace(*std::move(started));
  return process::Connection(row_server_->take_socket());
}

Result<Measure::Reply> Worker::handle(const Measure& request) {
  if (!device_) return Error{EINVAL, "no device open"};
  if (!rows_) {
    Result<process::Connection> server = find_row_server(request);
    if (!server) return server.error();
    Result<std::unique_ptr<perf::Rows>> rows =
        perf::Rows::open(perf::Control(*std::move(server)),
                         {opened_.verbs, opened_.cuda, opened_.nic, opened_.port, {}});
    if (!rows) return rows.error();
    rows_ = *std::move(rows);
  }
  Result<perf::Row> row = rows_->measure(request.load, kTiming);
  if (!row) {
    rows_.reset();
    row_server_.reset();
    return row.error();
  }
  if (!row->problem.empty()) return Error{EIO, row->problem};
  Measure::Reply reply;
  if (row->rate) reply.messages_per_second = row->rate->median;
  if (row->latency) reply.nanoseconds = row->latency->p50;
  return reply;
}

}  // namespace gdr::proof
