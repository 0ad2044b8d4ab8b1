// OpenRail: what it does in a round once it is connected.
#include <algorithm>

#include "fabric/worker/layout.h"
#include "fabric/worker/open_rail.h"
#include "participants/pattern.h"

namespace gdr::fabric::worker {
namespace {

constexpr std::uint64_t kReadBytes = 8;
constexpr std::size_t kWarmUp = 8;  // reads that are not counted

int errno_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return ETIMEDOUT;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_LOC_PROT_ERR:
      return EACCES;
    case IBV_WC_WR_FLUSH_ERR:
      return ECANCELED;
    default:
      return EIO;
  }
}

void tell(const Error& error, std::int32_t& code, std::string& problem) {
  code = error.code;
  problem = error.message;
}

}  // namespace

Result<void> OpenRail::post(ibv_wr_opcode opcode, std::uint64_t local, std::uint64_t remote,
                            std::uint64_t bytes, bool signalled) {
  ibv_sge piece{memory_->address() + outgoing_offset_ + local, static_cast<std::uint32_t>(bytes),
                region_->lkey};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = bytes > 0 ? 1 : 0;
  work.opcode = opcode;
  work.send_flags = signalled ? static_cast<unsigned>(IBV_SEND_SIGNALED) : 0u;
  work.imm_data = __builtin_bswap32(sent_.round);
  work.wr.rdma = {part_.to_address.address + remote, part_.to_address.rkey};
  return outgoing_->post_send(work);
}

Error OpenRail::error_of(const ibv_wc& completion) const {
  std::string text = device_->library().wc_status_str(completion.status);
  if (completion.status == IBV_WC_RETRY_EXC_ERR) text += " (the other side does not answer)";
  return {errno_of(completion.status), text};
}

Result<bool> OpenRail::reap(bool receive) {
  Result<std::optional<ibv_wc>> polled =
      receive ? incoming_->poll_receive() : outgoing_->poll_send();
  if (!polled) return polled.error();
  if (!*polled) return false;
  if ((*polled)->status != IBV_WC_SUCCESS) return error_of(**polled);
  return true;
}

Result<void> OpenRail::await_sent(const Bounds& bounds) {
  Patience patience(planned_.software_nic);
  for (;;) {
    Result<bool> reaped = reap(false);
    if (!reaped) return reaped.error();
    if (*reaped) return {};
    const Nanoseconds time = now();
    if (std::optional<Error> end = end_of(time, bounds.deadline, *bounds.lost_to)) return *end;
    patience.pause(time);
  }
}

// All of the data in as few requests as the port allows, and a last one that tells the receiver:
// requests of a connection are carried out in order.
Result<void> OpenRail::start_sending() {
  participants::fill_pattern(data_seed(sent_), 0, expected_);
  if (Result<void> filled = memory_->write(outgoing_offset_ + kSourceOffset, expected_); !filled) {
    return Error{EIO, filled.error().message};
  }
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
  const std::uint64_t most = std::clamp<std::uint64_t>(port_.max_msg_sz, 1, kLargest);
  for (std::uint64_t at = 0; at < settings_.proof_bytes; at += most) {
    const std::uint64_t bytes = std::min(most, settings_.proof_bytes - at);
    Result<void> posted =
        post(IBV_WR_RDMA_WRITE, kSourceOffset + at, kProofOffset + at, bytes, false);
    if (!posted) return posted;
  }
  return post(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0);
}

// Both directions at once: neither may wait for the other.
void OpenRail::exchange(const Bounds& bounds, bool sends, bool receives, RailResult& result) {
  const auto advance = [&](bool& open, bool receive, std::optional<Error>& problem,
                           Nanoseconds time) {
    if (!open) return false;
    Result<bool> reaped = reap(receive);
    if (!reaped) {
      problem = reaped.error();
    } else if (!*reaped) {
      problem = end_of(time, bounds.deadline, receive ? *bounds.lost_from : *bounds.lost_to);
    }
    open = reaped && !*reaped && !problem;
    return !open;
  };
  Patience patience(planned_.software_nic);
  while (sends || receives) {
    const Nanoseconds time = now();
    const bool moved_out = advance(sends, false, send_problem_, time);
    const bool moved_in = advance(receives, true, receive_problem_, time);
    if (!moved_out && !moved_in) patience.pause(time);
  }
  if (receive_problem_ && receive_problem_->code == ETIMEDOUT) {
    receive_problem_->message = "nothing came within the time of a step";
  }
  if (send_problem_) tell(*send_problem_, result.code, result.problem);
}

Result<participants::Damage> OpenRail::look() {
  if (Result<void> read = memory_->read(kGuardOffset, scratch_); !read) {
    return Error{EIO, read.error().message};
  }
  participants::fill_pattern(data_seed(received_), 0, expected_);
  return participants::examine(
      {scratch_, kGuard, expected_, stale_seed(received_), kGuardOffset, /*previous_seed=*/0});
}

void OpenRail::prove(const Bounds& bounds, RailResult& result) {
  bool sends = part_.has_to && !send_problem_;
  const bool receives = part_.has_from && !receive_problem_;
  if (sends) {
    if (Result<void> started = start_sending(); !started) {
      send_problem_ = started.error();
      sends = false;
    }
  }
  exchange(bounds, sends, receives, result);
  if (!part_.has_from) return;
  if (!receive_problem_) {
    Result<participants::Damage> damage = look();
    if (damage) {
      result.damage = *damage;
      return;
    }
    receive_problem_ = damage.error();
  }
  tell(*receive_problem_, result.received_code, result.received_problem);
}

Result<double> OpenRail::latency(const Bounds& bounds) {
  samples_.clear();
  const Nanoseconds begin = now();
  const Nanoseconds enough = begin + settings_.latency_milliseconds * kMillisecond;
  Nanoseconds start = begin;
  for (std::size_t count = 0; samples_.size() < samples_.capacity(); ++count) {
    Result<void> read = post(IBV_WR_RDMA_READ, 0, 0, kReadBytes);
    if (read) read = await_sent(bounds);
    if (!read) return read.error();
    const Nanoseconds end = now();
    if (count >= kWarmUp) samples_.push_back(static_cast<std::uint32_t>(end - start));
    // One that was slow counts as well: there is no better one.
    if (end >= enough && !samples_.empty()) break;
    if (std::optional<Error> over = end_of(end, bounds.deadline, *bounds.lost_to)) return *over;
    start = now();
  }
  const auto middle = samples_.begin() + static_cast<std::ptrdiff_t>(samples_.size() / 2);
  std::nth_element(samples_.begin(), middle, samples_.end());
  return static_cast<double>(*middle);
}

void OpenRail::measure_latency(const Bounds& bounds, RailResult& result) {
  if (!part_.has_to) return;
  if (!send_problem_) {
    if (Result<double> measured = latency(bounds)) {
      result.value = *measured;
      return;
    } else {
      send_problem_ = measured.error();
    }
  }
  tell(*send_problem_, result.code, result.problem);
}

Result<double> OpenRail::bandwidth(const Bounds& bounds) {
  const Nanoseconds begin = now();
  const Nanoseconds enough = begin + settings_.bandwidth_milliseconds * kMillisecond;
  std::uint64_t posted = 0, completed = 0;
  Nanoseconds last = begin;
  Patience patience(planned_.software_nic);
  for (bool posting = true; posting || completed < posted;) {
    // Two for each that is done, until the queue is full: a slow link is not left with more than it
    // carries in the time of the step.
    const std::uint64_t most = std::min<std::uint64_t>(depth_, completed + 1);
    for (; posting && posted - completed < most; ++posted) {
      Result<void> done = post(IBV_WR_RDMA_WRITE, 0, 0, message_bytes_);
      if (!done) return done.error();
    }
    Result<bool> reaped = reap(false);
    if (!reaped) return reaped.error();
    const Nanoseconds time = now();
    if (*reaped) {
      ++completed;
      last = time;
      patience.restart();
    }
    if (std::optional<Error> over = end_of(time, bounds.deadline, *bounds.lost_to)) return *over;
    if (time >= enough) posting = false;
    if (!*reaped) patience.pause(time);
  }
  return static_cast<double>(completed * message_bytes_) * 1e9 / static_cast<double>(last - begin);
}

void OpenRail::measure_bandwidth(const Bounds& bounds, RailResult& result) {
  if (!part_.has_to) return;
  if (!send_problem_) {
    if (Result<double> measured = bandwidth(bounds)) {
      result.value = *measured;
      return;
    } else {
      send_problem_ = measured.error();
    }
  }
  tell(*send_problem_, result.code, result.problem);
}

}  // namespace gdr::fabric::worker
