#include "side.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../tests/support/queue_pair_steps.h"
#include "../give_up.h"
#include "../verbs_calls.h"

namespace gdr::bench {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;
// Over a Link never more than a batch of messages is under way.
constexpr std::uint32_t kReceiveQueue = 256;

void check(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) {
    give_up("a request failed: {}", ibv_wc_status_str(completion.status));
  }
}

}  // namespace

Side::Side(std::uint32_t most, bool gives_way) : gives_way_(gives_way), buffer_(kBufferBytes) {
  queue_pairs_.reserve(most);
  context_.reset(open_first_device());
  domain_.reset(made(ibv_alloc_pd(context_.get()), "ibv_alloc_pd"));
  region_.reset(
      made(ibv_reg_mr(domain_.get(), buffer_.data(), buffer_.size(), kRights), "ibv_reg_mr"));
  channel_.reset(made(ibv_create_comp_channel(context_.get()), "ibv_create_comp_channel"));
  const std::uint32_t messages = gives_way ? most * kDepth : kReceiveQueue;
  received_.reset(
      made(ibv_create_cq(context_.get(), static_cast<int>(messages), nullptr, channel_.get(), 0),
           "ibv_create_cq"));
}

Side::~Side() {
  while (!queue_pairs_.empty()) remove_last();
}

Place Side::place() const {
  Place place;
  done(ibv_query_gid(context_.get(), 1, test::kGidIndex, &place.gid), "ibv_query_gid");
  place.address = reinterpret_cast<std::uintptr_t>(buffer_.data());
  place.key = region_->rkey;
  return place;
}

void Side::add() {
  Owned<ibv_cq> sent(
      made(ibv_create_cq(context_.get(), kDepth, nullptr, nullptr, 0), "ibv_create_cq"),
      ibv_destroy_cq);
  ibv_qp_init_attr init{};
  init.send_cq = sent.get();
  init.recv_cq = received_.get();
  init.cap = {.max_send_wr = kDepth,
              .max_recv_wr = kDepth,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = kMessageBytes};
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  Owned<ibv_qp> pair(made(ibv_create_qp(domain_.get(), &init), "ibv_create_qp"), ibv_destroy_qp);
  queue_pairs_.push_back({std::move(sent), std::move(pair)});
}

void Side::remove_last() {
  QueuePair& last = queue_pairs_.back();
  done(ibv_destroy_qp(last.pair.release()), "ibv_destroy_qp");
  done(ibv_destroy_cq(last.sent.release()), "ibv_destroy_cq");
  queue_pairs_.pop_back();
}

void Side::connect(std::size_t index, std::uint32_t number, const ibv_gid& gid) {
  ibv_qp_attr to = test::attributes_towards(number, gid);
  to.qp_access_flags = kRights;
  ibv_qp* pair = queue_pairs_[index].pair.get();
  done(test::step(pair, to, IBV_QPS_INIT), "ibv_modify_qp to INIT");
  done(test::step(pair, to, IBV_QPS_RTR), "ibv_modify_qp to RTR");
  done(test::step(pair, to, IBV_QPS_RTS), "ibv_modify_qp to RTS");
}

// All into the same bytes: what arrives is looked at by nobody.
void Side::post_receive(std::size_t index) {
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer_.data()), kMessageBytes, region_->lkey};
  ibv_recv_wr receive{.wr_id = index, .next = nullptr, .sg_list = &segment, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  done(ibv_post_recv(queue_pairs_[index].pair.get(), &receive, &bad), "ibv_post_recv");
}

void Side::post_receives(std::size_t index) {
  for (std::uint32_t i = 0; i < kDepth; ++i) post_receive(index);
}

void Side::write(std::size_t index, std::uint64_t from, std::uint32_t local_key, std::uint64_t to,
                 std::uint32_t remote_key) {
  ibv_sge segment{from, 8, local_key};
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.wr.rdma.remote_addr = to;
  request.wr.rdma.rkey = remote_key;
  ibv_send_wr* bad = nullptr;
  done(ibv_post_send(queue_pairs_[index].pair.get(), &request, &bad), "ibv_post_send");
}

void Side::write(std::size_t index, const Place& there) {
  write(index, reinterpret_cast<std::uintptr_t>(buffer_.data()), region_->lkey, there.address,
        there.key);
}

void Side::send(std::size_t index) {
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer_.data()), kMessageBytes, region_->lkey};
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_INLINE;
  request.sg_list = &segment;
  request.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  done(ibv_post_send(queue_pairs_[index].pair.get(), &request, &bad), "ibv_post_send");
}

void Side::idle() const {
  if (gives_way_) sched_yield();
}

void Side::take_sent(std::size_t index, std::uint32_t count) {
  ibv_wc completions[kDepth];
  while (count > 0) {
    const int taken = ibv_poll_cq(queue_pairs_[index].sent.get(),
                                  static_cast<int>(std::min(count, kDepth)), completions);
    if (taken < 0) give_up("ibv_poll_cq failed");
    for (int i = 0; i < taken; ++i) check(completions[i]);
    count -= static_cast<std::uint32_t>(taken);
    if (taken == 0) idle();
  }
}

std::size_t Side::take_message(Wait wait) {
  ibv_wc completion;
  while (true) {
    const int taken = ibv_poll_cq(received_.get(), 1, &completion);
    if (taken < 0) give_up("ibv_poll_cq failed");
    if (taken == 1) break;
    if (wait == Wait::kSleeping) {
      wait_for_event();
    } else {
      idle();
    }
  }
  check(completion);
  post_receive(completion.wr_id);
  return completion.wr_id;
}

void Side::arm() { done(ibv_req_notify_cq(received_.get(), 0), "ibv_req_notify_cq"); }

void Side::wait_for_event() {
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  if (ibv_get_cq_event(channel_.get(), &cq, &cq_context) != 0) {
    give_up("ibv_get_cq_event: {}", std::strerror(errno));
  }
  ibv_ack_cq_events(cq, 1);
  arm();
}

}  // namespace gdr::bench
