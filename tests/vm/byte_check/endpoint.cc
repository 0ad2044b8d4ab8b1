#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "link.h"
#include "queue_pair_steps.h"

namespace byte_check {
namespace {

constexpr std::uint32_t kQKey = 0x11223344;
constexpr int kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC;
constexpr ibv_qp_type kTransports[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

template <typename T>
T* made(T* object, const char* what) {
  if (!object) die(what);
  return object;
}

void done(int code, const std::string& what) {
  errno = code < 0 ? errno : code;
  if (code) die(what);
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

}  // namespace

Endpoint::Endpoint(const char* device, int gid_index, std::uint32_t packet_sequence)
    : gid_index_(gid_index), packet_sequence_(packet_sequence) {
  int count = 0;
  ibv_device** list = made(ibv_get_device_list(&count), "ibv_get_device_list");
  for (int i = 0; i < count; ++i) {
    if (!strcmp(ibv_get_device_name(list[i]), device)) context_ = ibv_open_device(list[i]);
  }
  made(context_, device);
  ibv_port_attr port{};
  done(ibv_query_port(context_, 1, &port), "ibv_query_port");
  mtu_ = port.active_mtu;
  done(ibv_query_gid(context_, 1, gid_index_, &gid_), "ibv_query_gid");
  pd_ = made(ibv_alloc_pd(context_), "ibv_alloc_pd");
  sends_ = made(ibv_create_cq(context_, 4 * kQueue, nullptr, nullptr, 0), "ibv_create_cq");
  receives_ = made(ibv_create_cq(context_, 4 * kQueue, nullptr, nullptr, 0), "ibv_create_cq");
  memory_ = static_cast<std::uint8_t*>(aligned_alloc(4096, kMemory));
  region_ = made(ibv_reg_mr(pd_, memory_, kMemory, kRights), "ibv_reg_mr");
  for (std::size_t i = 0; i < std::size(kTransports); ++i) queues_[i] = create(kTransports[i]);
}

ibv_qp* Endpoint::create(ibv_qp_type type) {
  ibv_qp_init_attr init{};
  init.send_cq = sends_;
  init.recv_cq = receives_;
  init.qp_type = type;
  init.sq_sig_all = 1;
  init.cap = {kQueue, kQueue, 1, 1, 0};
  ibv_qp* qp = made(ibv_create_qp(pd_, &init), "ibv_create_qp");
  ibv_qp_attr attributes = gdr::test::attributes_towards(0, {});
  attributes.qkey = kQKey;
  attributes.qp_access_flags = type == IBV_QPT_UC ? IBV_ACCESS_REMOTE_WRITE : kRights;
  done(gdr::test::step(qp, attributes, IBV_QPS_INIT), "ibv_modify_qp to INIT");
  return qp;
}

Ends Endpoint::ends() const {
  Ends ends{};
  for (std::size_t i = 0; i < std::size(queues_); ++i) ends.numbers[i] = queues_[i]->qp_num;
  ends.rkey = region_->rkey;
  ends.address = reinterpret_cast<std::uintptr_t>(memory_);
  ends.gid = gid_;
  ends.packet_sequence = packet_sequence_;
  ends.mtu = mtu_;
  return ends;
}

ibv_ah_attr Endpoint::path() const {
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  attributes.port_num = 1;
  attributes.grh.dgid = theirs_.gid;
  attributes.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
  attributes.grh.hop_limit = 64;
  return attributes;
}

void Endpoint::connect(const Ends& theirs) {
  theirs_ = theirs;
  mtu_ = std::min(mtu_, static_cast<ibv_mtu>(theirs.mtu));
  for (std::size_t i = 0; i < std::size(queues_); ++i) bring_up(queues_[i], theirs.numbers[i]);
  ibv_ah_attr attributes = path();
  handle_ = made(ibv_create_ah(pd_, &attributes), "ibv_create_ah");
}

void Endpoint::bring_up(ibv_qp* qp, std::uint32_t peer) {
  ibv_qp_attr attributes = gdr::test::attributes_towards(peer, theirs_.gid);
  attributes.path_mtu = mtu_;
  attributes.ah_attr = path();
  attributes.rq_psn = theirs_.packet_sequence;
  attributes.sq_psn = packet_sequence_;
  attributes.max_dest_rd_atomic = attributes.max_rd_atomic = 4;
  attributes.timeout = 16;  // 0.27 s: the guest is emulated, and may stand still for as long
  done(gdr::test::step(qp, attributes, IBV_QPS_RTR), "ibv_modify_qp to RTR");
  done(gdr::test::step(qp, attributes, IBV_QPS_RTS), "ibv_modify_qp to RTS");
}

ibv_qp* Endpoint::queue(ibv_qp_type transport) const {
  const auto found = std::ranges::find(kTransports, transport);
  return queues_[found - std::begin(kTransports)];
}

void Endpoint::post(const Request& request) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_) + request.from, request.bytes,
              region_->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = request.opcode;
  wr.imm_data = htonl(request.immediate);
  const std::uint64_t remote = theirs_.address + request.to;
  if (request.transport == IBV_QPT_UD) {
    wr.wr.ud = {handle_, theirs_.numbers[2], kQKey};
  } else if (is_atomic(request.opcode)) {
    wr.wr.atomic = {remote, request.compare_or_add, request.swap, theirs_.rkey};
  } else {
    wr.wr.rdma = {remote, theirs_.rkey};
  }
  done(ibv_post_send(queue(request.transport), &wr, &bad), "ibv_post_send");
}

void Endpoint::post_receive(ibv_qp_type transport, std::size_t to, std::uint32_t bytes) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_) + to, bytes, region_->lkey};
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  done(ibv_post_recv(queue(transport), &wr, &bad), "ibv_post_recv");
}

std::optional<ibv_wc> Endpoint::await(ibv_cq* queue, int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  ibv_wc wc{};
  do {
    const int count = ibv_poll_cq(queue, 1, &wc);
    if (count < 0) die("ibv_poll_cq");
    if (count == 1) return wc;
    sched_yield();  // the other side may need this processor
  } while (std::chrono::steady_clock::now() < end);
  return std::nullopt;
}

}  // namespace byte_check
