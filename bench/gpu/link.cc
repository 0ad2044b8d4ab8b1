#include "link.h"

#include <cerrno>
#include <cstring>

#include "../connected_pair.h"
#include "fail.h"

namespace gdr::bench {
namespace {

constexpr std::uint32_t kDepth = 64;

template <typename Object>
Object* made(Object* object, const char* call) {
  if (object == nullptr) fail("%s: %s", call, std::strerror(errno));
  return object;
}

void done(int error, const char* call) {
  if (error != 0) fail("%s: %s", call, std::strerror(error));
}

}  // namespace

Link::Link() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr || count == 0) fail("no RDMA device; run it by: gdr run -- %s", kProgram);
  context_ = made(ibv_open_device(list[0]), "ibv_open_device");
  ibv_free_device_list(list);
  domain_ = made(ibv_alloc_pd(context_), "ibv_alloc_pd");
  queue_ = made(ibv_create_cq(context_, 2 * kDepth, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_qp_init_attr init{};
  init.send_cq = queue_;
  init.recv_cq = queue_;
  init.cap = {.max_send_wr = kDepth,
              .max_recv_wr = 1,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  queue_pair_ = made(ibv_create_qp(domain_, &init), "ibv_create_qp");
}

const char* Link::device() const { return ibv_get_device_name(context_->device); }

LinkAddress Link::address() const {
  LinkAddress address;
  done(ibv_query_gid(context_, kPort, 0, &address.gid), "ibv_query_gid");
  address.qp_number = queue_pair_->qp_num;
  return address;
}

Place Link::enroll(std::uint64_t address, std::size_t bytes, const char* what) {
  ibv_mr* region = ibv_reg_mr(
      domain_, reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes, kAccess);
  if (region == nullptr) fail("ibv_reg_mr of %s: %s", what, std::strerror(errno));
  return {address, region->lkey, region->rkey};
}

void Link::connect(const LinkAddress& other) {
  const NotConnected wrong = bench::connect(queue_pair_, {other.qp_number, other.gid});
  if (wrong.step != nullptr) done(wrong.error, wrong.step);
}

void Link::post(ibv_wr_opcode opcode, const Place& here, const Place& there, std::size_t offset,
                std::size_t bytes) {
  ibv_sge segment{here.address + offset, static_cast<std::uint32_t>(bytes), here.key};
  ibv_send_wr request{};
  request.opcode = opcode;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.wr.rdma.remote_addr = there.address + offset;
  request.wr.rdma.rkey = there.remote_key;
  ibv_send_wr* bad = nullptr;
  done(ibv_post_send(queue_pair_, &request, &bad), "ibv_post_send");
}

void Link::take() {
  ibv_wc completion;
  int taken = 0;
  while (taken == 0) taken = ibv_poll_cq(queue_, 1, &completion);
  if (taken < 0) fail("ibv_poll_cq failed");
  if (completion.status != IBV_WC_SUCCESS) {
    fail("a request failed: %s", ibv_wc_status_str(completion.status));
  }
}

}  // namespace gdr::bench
