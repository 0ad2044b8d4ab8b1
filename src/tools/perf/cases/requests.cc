#include "perf/cases/requests.h"

#include <arpa/inet.h>

#include <algorithm>

namespace gdr::perf {
namespace {

ibv_wr_opcode opcode_of(Operation operation, bool check) {
  switch (operation) {
    case Operation::kWrite:
      return IBV_WR_RDMA_WRITE;
    case Operation::kWriteWithImmediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Operation::kRead:
      return IBV_WR_RDMA_READ;
    case Operation::kFetchAndAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Operation::kCompareAndSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    default:  // what is compared carries its number
      return check ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
  }
}

constexpr Nanoseconds kDrain = 2 * kSecond;  // retries run out after half a second

}  // namespace

Error completion_error(const Station& station, const ibv_wc& completion, const char* of) {
  char vendor[16];
  snprintf(vendor, sizeof vendor, "0x%x", completion.vendor_err);
  return {EIO, std::string("a ") + of + " completed with an error: " +
                   station.devices().nic().library().wc_status_str(completion.status) +
                   " (status " + std::to_string(completion.status) + ", vendor error " + vendor +
                   ")"};
}

Requests::Requests(Task& task, Operation operation, std::uint32_t batch, std::uint32_t signal_every)
    : Requests(task, batch, signal_every, is_atomic(operation) ? 8 : task.size,
               opcode_of(operation, task.station.plan().load.check)) {}

Requests Requests::sends(Task& task, std::uint64_t size) {
  return {task, 1, 1, size, IBV_WR_SEND_WITH_IMM};
}

Requests::Requests(Task& task, std::uint32_t batch, std::uint32_t signal_every, std::uint64_t size,
                   ibv_wr_opcode opcode)
    : station_(task.station),
      queues_(station_.queues().data()),
      send_queue_(station_.send_queue()),
      layout_(task.station.layout()),
      batch_(batch),
      signal_every_(signal_every),
      size_(size),
      has_slots_(layout_.slots > 1),
      has_immediate_(opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM),
      gives_way_(station_.gives_way()),
      all_alike_(signal_every == 1 && !has_slots_ && !has_immediate_),
      segments_(station_.queues().size() * batch),
      requests_(station_.queues().size() * batch) {
  for (std::uint32_t i = 0; i < station_.queues().size(); ++i) {
    Station::Queue& queue = station_.queues()[i];
    queue.posted = queue.completed = 0;
    queue.unsignaled = 0;
    make(i, opcode);
  }
}

void Requests::make(std::uint32_t index, ibv_wr_opcode opcode) {
  Station::Queue& queue = station_.queues()[index];
  const Load& load = station_.plan().load;
  const bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
  const bool sends_data = opcode != IBV_WR_RDMA_READ && !atomic;
  for (std::uint32_t i = 0; i < batch_; ++i) {
    ibv_sge& segment = segments_[index * batch_ + i];
    segment = {queue.outgoing, static_cast<std::uint32_t>(size_), station_.lkey()};
    ibv_send_wr& request = requests_[index * batch_ + i];
    request = {};
    request.next = i + 1 < batch_ ? &request + 1 : nullptr;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = opcode;
    if (sends_data && size_ <= station_.inline_bytes()) request.send_flags = IBV_SEND_INLINE;
    if (all_alike_) {
      request.send_flags |= IBV_SEND_SIGNALED;
      request.wr_id = std::uint64_t{index} << 32 | 1;
    }
    if (atomic) {
      request.wr.atomic.remote_addr = queue.remote;
      request.wr.atomic.rkey = station_.rkey();
      request.wr.atomic.compare_add = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 1 : 0;
    } else if (load.transport == Transport::kUd) {
      request.wr.ud = {queue.path, queue.remote_number, rdma::kQKey};
    } else {
      request.wr.rdma = {queue.remote + layout_.head, station_.rkey()};
    }
    if (load.transport == Transport::kXrc) {
      request.qp_type.xrc.remote_srqn = queue.remote_shared_receives;
    }
  }
}

// What differs from one request to the next.
void Requests::prepare(Station::Queue& queue, std::uint32_t index, bool signal_last) {
  for (std::uint32_t i = 0; i < batch_; ++i) {
    ibv_send_wr& request = requests_[index * batch_ + i];
    if (has_slots_) {
      const std::uint64_t slot = layout_.slot(queue.posted + i);
      request.sg_list->addr = queue.outgoing + slot;
      if (!is_atomic(station_.plan().load.operation) &&
          station_.plan().load.transport != Transport::kUd) {
        request.wr.rdma.remote_addr = queue.remote + slot + layout_.head;
      }
    }
    if (has_slots_ && request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
      request.wr.atomic.compare_add = queue.posted + i;
      request.wr.atomic.swap = queue.posted + i + 1;
    }
    if (has_immediate_) request.imm_data = htonl(immediate_ + i);
    ask_for_completion(queue, index, request, signal_last && i + 1 == batch_);
  }
}

bool Requests::is_under_way() const {
  return std::ranges::any_of(station_.queues(), [](const Station::Queue& queue) {
    return queue.completed + queue.unsignaled < queue.posted;
  });
}

void Requests::drain(Outcome& outcome) {
  const Nanoseconds until = now() + kDrain;
  while (outcome.done && is_under_way()) {
    if (reap(outcome) < 0) return;
    if (now() > until) outcome.fail({ETIMEDOUT, "requests arrived but have no completion"});
  }
}

// A completion with an error; none: the queue could not be polled.
int Requests::refuse(Outcome& outcome, const ibv_wc* completion) const {
  outcome.fail(completion != nullptr ? completion_error(station_, *completion, "request")
                                     : rdma::verbs_error("ibv_poll_cq", EIO));
  return -1;
}

}  // namespace gdr::perf
