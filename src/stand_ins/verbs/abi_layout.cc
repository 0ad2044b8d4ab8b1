// The layout of the structs that programs read without asking: their compilers wrote these offsets
// into them. The numbers are rdma-core 44's on x86-64, so that another <infiniband/verbs.h> is
// noticed here and not in a program. verbs_context grows at its head, hence from its end.
#include <infiniband/verbs.h>

#include <cstddef>

#if defined(__x86_64__)
namespace {

constexpr std::size_t from_end(std::size_t offset) { return sizeof(verbs_context) - offset; }

static_assert(sizeof(ibv_device) == 664);
static_assert(offsetof(ibv_device, node_type) == 16);
static_assert(offsetof(ibv_device, name) == 24);
static_assert(offsetof(ibv_device, dev_name) == 88);
static_assert(offsetof(ibv_device, dev_path) == 152);
static_assert(offsetof(ibv_device, ibdev_path) == 408);

static_assert(sizeof(ibv_context) == 328);
static_assert(offsetof(ibv_context, ops) == 8);
static_assert(offsetof(ibv_context, cmd_fd) == 264);
static_assert(offsetof(ibv_context, async_fd) == 268);
static_assert(offsetof(ibv_context, num_comp_vectors) == 272);
static_assert(offsetof(ibv_context, mutex) == 280);
static_assert(offsetof(ibv_context, abi_compat) == 320);
static_assert(sizeof(ibv_context_ops) == 256);
static_assert(offsetof(ibv_context_ops, poll_cq) == 88);
static_assert(offsetof(ibv_context_ops, req_notify_cq) == 96);
static_assert(offsetof(ibv_context_ops, post_srq_recv) == 160);
static_assert(offsetof(ibv_context_ops, post_send) == 200);
static_assert(offsetof(ibv_context_ops, post_recv) == 208);

static_assert(from_end(offsetof(verbs_context, context)) == 328);
static_assert(from_end(offsetof(verbs_context, sz)) == 336);
static_assert(from_end(offsetof(verbs_context, create_srq_ex)) == 368);
static_assert(from_end(offsetof(verbs_context, create_qp_ex)) == 384);
static_assert(from_end(offsetof(verbs_context, ibv_create_flow)) == 408);
static_assert(from_end(offsetof(verbs_context, ibv_destroy_flow)) == 424);
static_assert(from_end(offsetof(verbs_context, query_device_ex)) == 432);
static_assert(from_end(offsetof(verbs_context, create_cq_ex)) == 448);
static_assert(from_end(offsetof(verbs_context, query_port)) == 648);

static_assert(sizeof(ibv_pd) == 16);
static_assert(sizeof(ibv_ah) == 24);
static_assert(sizeof(ibv_comp_channel) == 16);
static_assert(sizeof(ibv_mr) == 48);
static_assert(offsetof(ibv_mr, lkey) == 36);
static_assert(offsetof(ibv_mr, rkey) == 40);
static_assert(sizeof(ibv_cq) == 128);
static_assert(sizeof(ibv_cq_ex) == 288);
static_assert(offsetof(ibv_cq_ex, start_poll) == 144);
static_assert(sizeof(ibv_qp) == 160);
static_assert(offsetof(ibv_qp, qp_num) == 52);
static_assert(offsetof(ibv_qp, state) == 56);
static_assert(sizeof(ibv_qp_ex) >= 352);  // 360 of rdma-core 56: one more request, at its end
static_assert(offsetof(ibv_qp_ex, wr_start) == 320);
static_assert(offsetof(ibv_qp_ex, wr_complete) == 328);

static_assert(sizeof(ibv_wc) == 48);
static_assert(sizeof(ibv_sge) == 16);
static_assert(sizeof(ibv_send_wr) == 128);
static_assert(sizeof(ibv_recv_wr) == 32);
static_assert(sizeof(ibv_ah_attr) == 32);
static_assert(sizeof(ibv_qp_attr) == 144);
static_assert(sizeof(ibv_qp_init_attr) == 64);
static_assert(sizeof(ibv_port_attr) >= 52);  // 56 of rdma-core 56; its length is told
static_assert(offsetof(ibv_port_attr, port_cap_flags2) == 48);
static_assert(sizeof(ibv_device_attr) == 232);
static_assert(sizeof(ibv_gid_entry) == 32);
static_assert(sizeof(ibv_async_event) == 16);

}  // namespace
#endif
