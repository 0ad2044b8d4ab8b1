#include "loopback.h"

#include <sched.h>

#include "fail.h"
#include "queue_pair_steps.h"

namespace peermem_check {
namespace {

// The first that stands for an IPv4 address, as `::ffff:10.0.0.1`.
int gid_index(ibv_context* context, ibv_gid& gid) {
  for (int i = 0; ibv_query_gid(context, 1, i, &gid) == 0; ++i) {
    if (gid.raw[10] == 0xff && gid.raw[11] == 0xff) return i;
  }
  fail("no GID of an IPv4 address");
}

}  // namespace

Loopback::Loopback() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (!list || count == 0) fail("no RDMA device");
  context_ = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  if (!context_) fail("ibv_open_device");
  pd_ = ibv_alloc_pd(context_);
  cq_ = ibv_create_cq(context_, 16, nullptr, nullptr, 0);
  if (!pd_ || !cq_) fail("protection domain, completion queue");
  connect();
}

Loopback::~Loopback() {
  for (ibv_qp* qp : queues_) ibv_destroy_qp(qp);
  ibv_destroy_cq(cq_);
  ibv_dealloc_pd(pd_);
  ibv_close_device(context_);
}

void Loopback::connect() {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  init.cap = {4, 4, 1, 1, 0};
  for (ibv_qp*& qp : queues_) {
    qp = ibv_create_qp(pd_, &init);
    if (!qp) fail("ibv_create_qp");
  }
  ibv_gid gid{};
  const int index = gid_index(context_, gid);
  for (int i = 0; i < 2; ++i) {
    ibv_qp_attr attributes = gdr::test::attributes_towards(queues_[1 - i]->qp_num, gid);
    attributes.path_mtu = IBV_MTU_1024;
    attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(index);
    attributes.timeout = 17;  // 0.5 s: the guest is emulated, and may stand still
    for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      errno = gdr::test::step(queues_[i], attributes, state);
      if (errno) fail("ibv_modify_qp");
    }
  }
}

ibv_wc_status Loopback::carry_out(ibv_wr_opcode opcode, const void* local, std::uint32_t lkey,
                                  std::uint64_t remote, std::uint32_t rkey, std::uint32_t bytes) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(local), bytes, lkey};
  ibv_send_wr request{}, *bad = nullptr;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.wr.rdma = {remote, rkey};
  errno = ibv_post_send(queues_[0], &request, &bad);
  if (errno) fail("ibv_post_send");
  ibv_wc done{};
  int count = 0;
  while ((count = ibv_poll_cq(cq_, 1, &done)) == 0) sched_yield();  // the NIC is a thread, too
  if (count < 0) fail("ibv_poll_cq");
  return done.status;
}

}  // namespace peermem_check
