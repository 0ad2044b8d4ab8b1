#include "side.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "addresses.h"
#include "base/clock.h"

namespace gdr::test {
namespace {

// By packets (GDR_SOFT_PATH) each test program is at addresses of its own: at the usual ones
// another user's test may hold the port, and those of one user would take their packets from each
// other.
[[maybe_unused]] const bool has_own_addresses = [] {
  const char* path = getenv("GDR_SOFT_PATH");
  const std::string devices =
      "soft0/ip=" + loopback_address(0) + ",soft1/ip=" + loopback_address(1);
  return path != nullptr && std::strcmp(path, "packets") == 0 &&
         setenv("GDR_SOFT_DEVICES", devices.c_str(), 0) == 0;
}();

}  // namespace

Memory::Memory(ibv_pd* pd, std::size_t bytes, unsigned access) : size_(bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(at != MAP_FAILED, "memory for a test");
  bytes_ = static_cast<std::uint8_t*>(at);
  region_ = ibv_reg_mr(pd, bytes_, bytes, static_cast<int>(access));
  require(region_ != nullptr, "a region is registered");
  key_ = region_->rkey;
}

Memory::~Memory() {
  if (region_ != nullptr) ibv_dereg_mr(region_);
  munmap(bytes_, size_);
}

void Memory::deregister() {
  require(ibv_dereg_mr(region_) == 0, "a region is deregistered");
  region_ = nullptr;
}

void Memory::fill(std::uint8_t value) { std::memset(bytes_, value, size_); }

void Memory::fill_pattern(std::uint64_t seed, std::size_t offset, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) bytes_[offset + i] = pattern(seed, i);
}

std::int64_t Memory::first_not_pattern(std::uint64_t seed, std::size_t offset,
                                       std::size_t length) const {
  for (std::size_t i = 0; i < length; ++i) {
    if (bytes_[offset + i] != pattern(seed, i)) return static_cast<std::int64_t>(offset + i);
  }
  return -1;
}

std::int64_t Memory::first_not(std::uint8_t value, std::size_t offset, std::size_t length) const {
  const volatile std::uint8_t* bytes = bytes_;
  for (std::size_t i = offset; i < offset + length; ++i) {
    if (bytes[i] != value) return static_cast<std::int64_t>(i);
  }
  return -1;
}

ibv_mtu path_mtu(ibv_context* context) {
  ibv_port_attr port{};
  require(ibv_query_port(context, 1, &port) == 0, "a port");
  return port.active_mtu;
}

Side::Side(int device, int completions, bool with_channel) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  require(list != nullptr && device < count, "there is such a device");
  context_ = ibv_open_device(list[device]);
  ibv_free_device_list(list);
  require(context_ != nullptr, std::string("a device opens: ") + std::strerror(errno));
  pd_ = ibv_alloc_pd(context_);
  require(pd_ != nullptr, "a protection domain");
  if (with_channel) channel_ = ibv_create_comp_channel(context_);
  cq_ = ibv_create_cq(context_, completions, nullptr, channel_, 0);
  require(cq_ != nullptr, "a completion queue");
}

Side::~Side() {
  memories_.clear();
  ibv_close_device(context_);  // with all that is left
}

Memory& Side::memory(std::size_t bytes, unsigned access) {
  memories_.push_back(std::make_unique<Memory>(pd_, bytes, access));
  return *memories_.back();
}

ibv_qp* Side::queue_pair(ibv_qp_type type, std::uint32_t send_requests, bool signal_all,
                         ibv_cq* receive_queue, ibv_srq* srq) {
  ibv_qp_init_attr init{};
  init.send_cq = cq_;
  init.recv_cq = receive_queue != nullptr ? receive_queue : cq_;
  init.srq = srq;
  init.qp_type = type;
  init.sq_sig_all = signal_all ? 1 : 0;
  init.cap = {.max_send_wr = send_requests,
              .max_recv_wr = 256,
              .max_send_sge = 8,
              .max_recv_sge = 8,
              .max_inline_data = 256};
  ibv_qp* qp = ibv_create_qp(pd_, &init);
  require(qp != nullptr, "a queue pair");
  ibv_qp_attr attr = attributes_towards(0, {});
  attr.qkey = kQueueKey;
  require(step(qp, attr, IBV_QPS_INIT) == 0, "to INIT");
  return qp;
}

Endpoint Side::endpoint(ibv_qp* qp) {
  Endpoint endpoint{qp->qp_num, {}};
  require(ibv_query_gid(context_, 1, kGidIndex, &endpoint.gid) == 0, "a GID");
  return endpoint;
}

ibv_qp_attr attributes_towards(ibv_qp* qp, const Endpoint& to, const Patience& patience) {
  ibv_qp_attr attr = attributes_towards(to.number, to.gid);
  attr.path_mtu = path_mtu(qp->context);
  attr.qp_access_flags = patience.access;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 16;
  attr.min_rnr_timer = patience.minimum_rnr_timer;
  attr.timeout = patience.timeout;
  attr.retry_cnt = patience.retry_count;
  attr.rnr_retry = patience.rnr_retry;
  return attr;
}

void Side::connect(ibv_qp* qp, const Endpoint& to, const Patience& patience) {
  const bool connected = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC;
  const ibv_qp_attr attr = attributes_towards(qp, to, patience);
  require(step(qp, attr, IBV_QPS_RTR, connected ? IBV_QP_ACCESS_FLAGS : 0) == 0, "to RTR");
  require(step(qp, attr, IBV_QPS_RTS) == 0, "to RTS");
}

int Side::move_to(ibv_qp* qp, ibv_qp_state state) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

ibv_ah* Side::address_handle(const Endpoint& to) {
  ibv_ah_attr attr{};
  attr.port_num = 1;
  attr.is_global = 1;
  attr.grh.dgid = to.gid;
  attr.grh.sgid_index = kGidIndex;
  ibv_ah* handle = ibv_create_ah(pd_, &attr);
  require(handle != nullptr, "an address handle");
  return handle;
}

void Side::receive(ibv_qp* qp, std::vector<ibv_sge> segments, std::uint64_t id) {
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = segments.data();
  request.num_sge = static_cast<int>(segments.size());
  ibv_recv_wr* bad = nullptr;
  require(ibv_post_recv(qp, &request, &bad) == 0, "a receive is posted");
}

void Side::receive(ibv_srq* srq, std::vector<ibv_sge> segments, std::uint64_t id) {
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = segments.data();
  request.num_sge = static_cast<int>(segments.size());
  ibv_recv_wr* bad = nullptr;
  require(ibv_post_srq_recv(srq, &request, &bad) == 0, "a shared receive is posted");
}

void Side::post(ibv_qp* qp, ibv_send_wr request, std::vector<ibv_sge> segments) {
  request.sg_list = segments.data();
  request.num_sge = static_cast<int>(segments.size());
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp, &request, &bad);
  require(error == 0, std::string("a send is posted: ") + std::strerror(error));
}

void Side::write(ibv_qp* qp, Memory& from, std::size_t offset, std::size_t length, const Remote& to,
                 std::size_t remote_offset, std::uint64_t id, ibv_wr_opcode opcode) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = static_cast<std::uint32_t>(id);
  request.wr.rdma.remote_addr = to.address + remote_offset;
  request.wr.rdma.rkey = to.key;
  post(qp, request, {from.segment(offset, length)});
}

void Side::read(ibv_qp* qp, Memory& into, std::size_t offset, std::size_t length,
                const Remote& from, std::size_t remote_offset, std::uint64_t id) {
  write(qp, into, offset, length, from, remote_offset, id, IBV_WR_RDMA_READ);
}

void Side::send(ibv_qp* qp, Memory& from, std::size_t offset, std::size_t length, std::uint64_t id,
                ibv_wr_opcode opcode) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = static_cast<std::uint32_t>(id);
  post(qp, request, {from.segment(offset, length)});
}

ibv_wc Side::completion(ibv_cq* queue) {
  ibv_wc completion{};
  const Nanoseconds end = now() + kLastResort;
  while (now() < end) {
    const int found = ibv_poll_cq(queue != nullptr ? queue : cq_, 1, &completion);
    if (found == 1) return completion;
    require(found == 0, "the completion queue can be polled");
    sched_yield();
  }
  throw Failure("no completion");
}

ibv_wc Side::expect(ibv_wc_status status, ibv_cq* queue) {
  const ibv_wc found = completion(queue);
  require(found.status == status, std::string("a completion with '") + ibv_wc_status_str(status) +
                                      "', found '" + ibv_wc_status_str(found.status) + "' for " +
                                      std::to_string(found.wr_id));
  return found;
}

void Side::expect_quiet(int milliseconds) {
  const Nanoseconds end = now() + static_cast<Nanoseconds>(milliseconds) * kMillisecond;
  while (now() < end) {
    ibv_wc completion{};
    const int found = ibv_poll_cq(cq_, 1, &completion);
    require(found == 0, "no completion, found one for " + std::to_string(completion.wr_id));
    usleep(500);
  }
}

ibv_event_type Side::event() {
  pollfd wait{context_->async_fd, POLLIN, 0};
  require(poll(&wait, 1, kLastResortMs) == 1, "an asynchronous event comes");
  ibv_async_event event{};
  require(ibv_get_async_event(context_, &event) == 0, "the event is there");
  ibv_ack_async_event(&event);
  return event.event_type;
}

}  // namespace gdr::test
