#include "endpoint.h"

#include <cerrno>
#include <cstring>

#include "connected_pair.h"
#include "give_up.h"
#include "verbs_calls.h"

namespace gdr::bench {
namespace {

constexpr int kSignalEvery = 16;  // of a ping-pong's sends

struct Shape {
  std::size_t size;
  Pages pages;
};
constexpr Shape kShapes[kBuffers] = {
    {64 << 10, Pages::kOrdinary},
    {1 << 20, Pages::kOrdinary},
    {8 << 20, Pages::kOrdinary},
    {8 << 20, Pages::kHuge},
};

}  // namespace

Endpoint::Endpoint()
    : regions_{Owned<ibv_mr>{nullptr, ibv_dereg_mr}, Owned<ibv_mr>{nullptr, ibv_dereg_mr},
               Owned<ibv_mr>{nullptr, ibv_dereg_mr}, Owned<ibv_mr>{nullptr, ibv_dereg_mr}} {
  context_.reset(open_first_device());
  domain_.reset(made(ibv_alloc_pd(context_.get()), "ibv_alloc_pd"));
  channel_.reset(made(ibv_create_comp_channel(context_.get()), "ibv_create_comp_channel"));
  send_queue_.reset(
      made(ibv_create_cq(context_.get(), 2 * kSendDepth, nullptr, nullptr, 0), "ibv_create_cq"));
  receive_queue_.reset(
      made(ibv_create_cq(context_.get(), 2 * kReceiveDepth, nullptr, channel_.get(), 0),
           "ibv_create_cq"));
  ibv_qp_init_attr init{};
  init.send_cq = send_queue_.get();
  init.recv_cq = receive_queue_.get();
  init.cap = {.max_send_wr = kSendDepth,
              .max_recv_wr = kReceiveDepth,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 64};
  init.qp_type = IBV_QPT_RC;
  queue_pair_.reset(made(ibv_create_qp(domain_.get(), &init), "ibv_create_qp"));
  for (std::uint32_t id = 0; id < kBuffers; ++id) {
    buffers_[id] = std::make_unique<Buffer>(kShapes[id].size, kShapes[id].pages);
    regions_[id].reset(
        made(ibv_reg_mr(domain_.get(), buffers_[id]->data(), buffers_[id]->size(), kAccess),
             "ibv_reg_mr"));
  }
}

Introduction Endpoint::introduction() const {
  Introduction introduction;
  done(ibv_query_gid(context_.get(), kPort, 0, &introduction.gid), "ibv_query_gid");
  introduction.qp_number = queue_pair_->qp_num;
  for (std::uint32_t id = 0; id < kBuffers; ++id) {
    introduction.buffers[id] = {reinterpret_cast<std::uintptr_t>(buffers_[id]->data()),
                                buffers_[id]->huge_bytes(), regions_[id]->rkey};
  }
  return introduction;
}

void Endpoint::connect(const Introduction& other) {
  for (std::uint32_t id = 0; id < kBuffers; ++id) twins_[id] = other.buffers[id];
  const NotConnected wrong = bench::connect(queue_pair_.get(), {other.qp_number, other.gid});
  if (wrong.step != nullptr) done(wrong.error, wrong.step);
}

ibv_send_wr Endpoint::request(BufferId id, ibv_wr_opcode opcode, ibv_sge& segment,
                              std::uint32_t length) {
  segment = {reinterpret_cast<std::uintptr_t>(buffers_[id]->data()), length, regions_[id]->lkey};
  ibv_send_wr request{};
  request.opcode = opcode;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.wr.rdma.remote_addr = twins_[id].address;
  request.wr.rdma.rkey = twins_[id].key;
  return request;
}

void Endpoint::post(ibv_send_wr& request) {
  ibv_send_wr* bad = nullptr;
  done(ibv_post_send(queue_pair_.get(), &request, &bad), "ibv_post_send");
}

void Endpoint::take(ibv_cq* cq) {
  ibv_wc completion;
  int taken = 0;
  while (taken == 0) taken = ibv_poll_cq(cq, 1, &completion);
  if (taken < 0) give_up("ibv_poll_cq failed");
  if (completion.status != IBV_WC_SUCCESS) {
    give_up("a request failed: {}", ibv_wc_status_str(completion.status));
  }
}

void Endpoint::run(ibv_send_wr& request) {
  request.send_flags |= IBV_SEND_SIGNALED;
  post(request);
  take(send_queue_.get());
}

void Endpoint::write(BufferId id, std::uint32_t length, unsigned flags) {
  ibv_sge segment;
  ibv_send_wr write = request(id, IBV_WR_RDMA_WRITE, segment, length);
  write.send_flags = flags;
  run(write);
}

void Endpoint::read(BufferId id, std::uint32_t length) {
  ibv_sge segment;
  ibv_send_wr read = request(id, IBV_WR_RDMA_READ, segment, length);
  run(read);
}

void Endpoint::send(BufferId id, std::uint32_t length) {
  ibv_sge segment;
  ibv_send_wr send = request(id, IBV_WR_SEND, segment, length);
  run(send);
}

void Endpoint::run_list(BufferId id, ibv_wr_opcode opcode, std::uint32_t length, int count,
                        std::uint32_t stride) {
  std::array<ibv_send_wr, kSendDepth> list;
  std::array<ibv_sge, kSendDepth> segments;
  if (count < 1 || count > static_cast<int>(kSendDepth)) give_up("a list of {} requests", count);
  for (int i = 0; i < count; ++i) {
    list[i] = request(id, opcode, segments[i], length);
    const std::uint64_t offset = std::uint64_t{stride} * static_cast<std::uint32_t>(i);
    segments[i].addr += offset;
    list[i].wr.rdma.remote_addr += offset;
    if (i > 0) list[i - 1].next = &list[i];
  }
  list[count - 1].send_flags = IBV_SEND_SIGNALED;
  post(list[0]);
  take(send_queue_.get());
}

void Endpoint::post_receive() {
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffers_[kOneMiB]->data()),
                  static_cast<std::uint32_t>(buffers_[kOneMiB]->size()), regions_[kOneMiB]->lkey};
  ibv_recv_wr receive{.wr_id = 0, .next = nullptr, .sg_list = &segment, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  done(ibv_post_recv(queue_pair_.get(), &receive, &bad), "ibv_post_recv");
  ++receives_posted_;
}

void Endpoint::top_up_receives(int count) {
  while (receives_posted_ < count) post_receive();
}

void Endpoint::take_receives(int count) {
  for (int i = 0; i < count; ++i) wait_receive(false);
}

void Endpoint::wait_receive(bool sleeping) {
  ibv_wc completion;
  if (!sleeping) {
    take(receive_queue_.get());
    --receives_posted_;
    return;
  }
  while (true) {
    const int taken = ibv_poll_cq(receive_queue_.get(), 1, &completion);
    if (taken < 0) give_up("ibv_poll_cq failed");
    if (taken == 1) break;
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    if (ibv_get_cq_event(channel_.get(), &cq, &cq_context) != 0) {
      give_up("ibv_get_cq_event: {}", std::strerror(errno));
    }
    ibv_ack_cq_events(cq, 1);
    done(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
  }
  if (completion.status != IBV_WC_SUCCESS) {
    give_up("a receive failed: {}", ibv_wc_status_str(completion.status));
  }
  --receives_posted_;
}

void Endpoint::send_unsignalled(std::uint32_t length) {
  ibv_sge segment;
  ibv_send_wr send = request(kOneMiB, IBV_WR_SEND, segment, length);
  if (++unsignalled_ < kSignalEvery) return post(send);
  unsignalled_ = 0;
  run(send);
}

void Endpoint::ping(int count, std::uint32_t length, bool sleeping) {
  if (sleeping) done(ibv_req_notify_cq(receive_queue_.get(), 0), "ibv_req_notify_cq");
  for (int i = 0; i < count; ++i) {
    send_unsignalled(length);
    wait_receive(sleeping);
    post_receive();
  }
}

void Endpoint::pong(int count, std::uint32_t length, bool sleeping) {
  if (sleeping) done(ibv_req_notify_cq(receive_queue_.get(), 0), "ibv_req_notify_cq");
  for (int i = 0; i < count; ++i) {
    wait_receive(sleeping);
    post_receive();
    send_unsignalled(length);
  }
}

}  // namespace gdr::bench
