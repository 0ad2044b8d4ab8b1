// The ibv_wr_* functions of extended queue pairs: each turns its arguments into an ibv_send_wr of
// the queue pair's batch. Hot.
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/qp.h"

namespace gdr::verbs {
namespace {

constexpr std::uint64_t kSends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr std::uint64_t kWrites = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
constexpr std::uint64_t kWindows =
    IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV;
constexpr std::uint64_t kReads = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

std::uint64_t operations_of(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_RC:
    case IBV_QPT_XRC_SEND:
      return kSends | kWrites | kReads | kWindows;
    case IBV_QPT_UC:
      return kSends | kWrites | kWindows;
    case IBV_QPT_UD:
      return kSends;
    case IBV_QPT_RAW_PACKET:
      return IBV_QP_EX_WITH_SEND;
    default:
      return 0;
  }
}

ibv_send_wr request_of(const ibv_qp_ex* qp, ibv_wr_opcode opcode) {
  ibv_send_wr request{};
  request.wr_id = qp->wr_id;
  request.opcode = opcode;
  request.send_flags = qp->wr_flags & ~unsigned{IBV_SEND_INLINE};  // wr_set_inline_data says so
  return request;
}

ibv_send_wr remote_request(const ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey,
                           std::uint64_t address) {
  ibv_send_wr request = request_of(qp, opcode);
  request.wr.rdma = {.remote_addr = address, .rkey = rkey};
  return request;
}

void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                       std::uint64_t compare, std::uint64_t swap) {
  ibv_send_wr request = request_of(qp, IBV_WR_ATOMIC_CMP_AND_SWP);
  request.wr.atomic = {.remote_addr = address, .compare_add = compare, .swap = swap, .rkey = rkey};
  qp_of(qp).batch->begin(request);
}

void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                         std::uint64_t add) {
  ibv_send_wr request = request_of(qp, IBV_WR_ATOMIC_FETCH_AND_ADD);
  request.wr.atomic = {.remote_addr = address, .compare_add = add, .swap = 0, .rkey = rkey};
  qp_of(qp).batch->begin(request);
}

void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  qp_of(qp).batch->begin(remote_request(qp, IBV_WR_RDMA_READ, rkey, address));
}

void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  qp_of(qp).batch->begin(remote_request(qp, IBV_WR_RDMA_WRITE, rkey, address));
}

void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 immediate) {
  ibv_send_wr request = remote_request(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address);
  request.imm_data = immediate;
  qp_of(qp).batch->begin(request);
}

void wr_send(ibv_qp_ex* qp) { qp_of(qp).batch->begin(request_of(qp, IBV_WR_SEND)); }

void wr_send_imm(ibv_qp_ex* qp, __be32 immediate) {
  ibv_send_wr request = request_of(qp, IBV_WR_SEND_WITH_IMM);
  request.imm_data = immediate;
  qp_of(qp).batch->begin(request);
}

void wr_send_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
  ibv_send_wr request = request_of(qp, IBV_WR_SEND_WITH_INV);
  request.invalidate_rkey = rkey;
  qp_of(qp).batch->begin(request);
}

void wr_local_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
  ibv_send_wr request = request_of(qp, IBV_WR_LOCAL_INV);
  request.invalidate_rkey = rkey;
  qp_of(qp).batch->begin(request);
}

void wr_bind_mw(ibv_qp_ex* qp, ibv_mw* mw, std::uint32_t rkey, const ibv_mw_bind_info* info) {
  ibv_send_wr request = request_of(qp, IBV_WR_BIND_MW);
  request.bind_mw.mw = mw;
  request.bind_mw.rkey = rkey;
  request.bind_mw.bind_info = *info;
  qp_of(qp).batch->begin(request);
}

void wr_set_ud_addr(ibv_qp_ex* qp, ibv_ah* address, std::uint32_t remote_qp,
                    std::uint32_t remote_qkey) {
  qp_of(qp).batch->set_address(address, remote_qp, remote_qkey);
}

void wr_set_xrc_srqn(ibv_qp_ex* qp, std::uint32_t number) {
  qp_of(qp).batch->set_remote_srq(number);
}

void wr_set_inline_data(ibv_qp_ex* qp, void* address, std::size_t length) {
  const ibv_data_buf buffer{.addr = address, .length = length};
  qp_of(qp).batch->set_inline({&buffer, 1});
}

void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* buffers) {
  qp_of(qp).batch->set_inline({buffers, count});
}

void wr_set_sge(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint32_t length) {
  const ibv_sge segment{.addr = address, .length = length, .lkey = key};
  qp_of(qp).batch->set_segments({&segment, 1});
}

void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* segments) {
  qp_of(qp).batch->set_segments({segments, count});
}

void wr_start(ibv_qp_ex* qp) { qp_of(qp).batch->start(); }
int wr_complete(ibv_qp_ex* qp) {
  Qp& own = qp_of(qp);
  const usage::Counted usage = context_of(qp->qp_base.context).usage;
  // From complete() on the batch is another thread's.
  const std::uint64_t bytes = usage == nullptr ? 0 : own.batch->bytes();
  const int error = own.batch->complete(*own.queue);
  if (error == 0) usage::moved(usage, bytes);
  return error;
}
void wr_abort(ibv_qp_ex* qp) { qp_of(qp).batch->abort(); }

}  // namespace

int offer_extended_posting(Qp& qp, std::uint64_t flags) {
  if ((flags & ~operations_of(qp.base.qp_type)) != 0) return EOPNOTSUPP;
  qp.batch = std::make_unique<SendBatch>(qp.queue->settings());
  ibv_qp_ex& table = qp.extended;
  table.wr_start = wr_start;
  table.wr_complete = wr_complete;
  table.wr_abort = wr_abort;
  table.wr_set_sge = wr_set_sge;
  table.wr_set_sge_list = wr_set_sge_list;
  table.wr_set_inline_data = wr_set_inline_data;
  table.wr_set_inline_data_list = wr_set_inline_data_list;
  if (qp.base.qp_type == IBV_QPT_UD) table.wr_set_ud_addr = wr_set_ud_addr;
  if (qp.base.qp_type == IBV_QPT_XRC_SEND) table.wr_set_xrc_srqn = wr_set_xrc_srqn;
  if (flags & IBV_QP_EX_WITH_SEND) table.wr_send = wr_send;
  if (flags & IBV_QP_EX_WITH_SEND_WITH_IMM) table.wr_send_imm = wr_send_imm;
  if (flags & IBV_QP_EX_WITH_SEND_WITH_INV) table.wr_send_inv = wr_send_inv;
  if (flags & IBV_QP_EX_WITH_LOCAL_INV) table.wr_local_inv = wr_local_inv;
  if (flags & IBV_QP_EX_WITH_BIND_MW) table.wr_bind_mw = wr_bind_mw;
  if (flags & IBV_QP_EX_WITH_RDMA_WRITE) table.wr_rdma_write = wr_rdma_write;
  if (flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM) table.wr_rdma_write_imm = wr_rdma_write_imm;
  if (flags & IBV_QP_EX_WITH_RDMA_READ) table.wr_rdma_read = wr_rdma_read;
  if (flags & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP) table.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
  if (flags & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD) table.wr_atomic_fetch_add = wr_atomic_fetch_add;
  return 0;
}

}  // namespace gdr::verbs
