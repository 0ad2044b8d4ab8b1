// The kernel commands that provider libraries (libmlx5, libefa, libmlx4) import from libibverbs.
// There is no kernel device behind the software NIC, so each of them answers EOPNOTSUPP; providers
// reach them only through a device of their own, which this library never hands out. What matters
// is that they exist: those libraries are linked with BIND_NOW into every perftest program.
#include <cerrno>

#include "verbs/abi.h"

// The arguments differ from one to the next and none is looked at, which the calling conventions of
// x86-64 and AArch64 permit.
#define GDR_COMMAND_IN(node, name)               \
  GDR_EXPORT_AS(#name "@IBVERBS_PRIVATE_" #node) \
  int name##_##node() { return EOPNOTSUPP; }
// In the nodes that rdma-core has had since release 57.
#define GDR_LATER_KERNEL_COMMAND(name) \
  GDR_COMMAND_IN(57, name)             \
  GDR_COMMAND_IN(59, name)             \
  GDR_COMMAND_IN(64, name)             \
  GDR_COMMAND_IN(65, name)
// Release 33 (Debian 11) had a node of its own before.
#define GDR_KERNEL_COMMAND(name)               \
  GDR_EXPORT int name() { return EOPNOTSUPP; } \
  GDR_COMMAND_IN(33, name)                     \
  GDR_LATER_KERNEL_COMMAND(name)

GDR_KERNEL_COMMAND(ibv_cmd_advise_mr)
GDR_KERNEL_COMMAND(ibv_cmd_alloc_dm)
GDR_KERNEL_COMMAND(ibv_cmd_alloc_mw)
GDR_KERNEL_COMMAND(ibv_cmd_alloc_pd)
GDR_KERNEL_COMMAND(ibv_cmd_attach_mcast)
GDR_KERNEL_COMMAND(ibv_cmd_close_xrcd)
GDR_KERNEL_COMMAND(ibv_cmd_create_ah)
GDR_KERNEL_COMMAND(ibv_cmd_create_counters)
GDR_KERNEL_COMMAND(ibv_cmd_create_cq)
GDR_KERNEL_COMMAND(ibv_cmd_create_cq_ex)
GDR_KERNEL_COMMAND(ibv_cmd_create_flow)
GDR_KERNEL_COMMAND(ibv_cmd_create_flow_action_esp)
GDR_KERNEL_COMMAND(ibv_cmd_create_qp)
GDR_KERNEL_COMMAND(ibv_cmd_create_qp_ex)
GDR_KERNEL_COMMAND(ibv_cmd_create_qp_ex2)
GDR_KERNEL_COMMAND(ibv_cmd_create_rwq_ind_table)
GDR_KERNEL_COMMAND(ibv_cmd_create_srq)
GDR_KERNEL_COMMAND(ibv_cmd_create_srq_ex)
GDR_KERNEL_COMMAND(ibv_cmd_create_wq)
GDR_KERNEL_COMMAND(ibv_cmd_dealloc_mw)
GDR_KERNEL_COMMAND(ibv_cmd_dealloc_pd)
GDR_KERNEL_COMMAND(ibv_cmd_dereg_mr)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_ah)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_counters)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_cq)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_flow)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_flow_action)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_qp)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_rwq_ind_table)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_srq)
GDR_KERNEL_COMMAND(ibv_cmd_destroy_wq)
GDR_KERNEL_COMMAND(ibv_cmd_detach_mcast)
GDR_KERNEL_COMMAND(ibv_cmd_free_dm)
GDR_KERNEL_COMMAND(ibv_cmd_get_context)
GDR_KERNEL_COMMAND(ibv_cmd_modify_cq)
GDR_KERNEL_COMMAND(ibv_cmd_modify_flow_action_esp)
GDR_KERNEL_COMMAND(ibv_cmd_modify_qp)
GDR_KERNEL_COMMAND(ibv_cmd_modify_qp_ex)
GDR_KERNEL_COMMAND(ibv_cmd_modify_srq)
GDR_KERNEL_COMMAND(ibv_cmd_modify_wq)
GDR_KERNEL_COMMAND(ibv_cmd_open_qp)
GDR_KERNEL_COMMAND(ibv_cmd_open_xrcd)
GDR_KERNEL_COMMAND(ibv_cmd_post_recv)
GDR_KERNEL_COMMAND(ibv_cmd_post_send)
GDR_KERNEL_COMMAND(ibv_cmd_post_srq_recv)
GDR_KERNEL_COMMAND(ibv_cmd_query_context)
GDR_KERNEL_COMMAND(ibv_cmd_query_device_any)
GDR_KERNEL_COMMAND(ibv_cmd_query_mr)
GDR_KERNEL_COMMAND(ibv_cmd_query_port)
GDR_KERNEL_COMMAND(ibv_cmd_query_qp)
GDR_KERNEL_COMMAND(ibv_cmd_query_srq)
GDR_KERNEL_COMMAND(ibv_cmd_read_counters)
GDR_KERNEL_COMMAND(ibv_cmd_reg_dm_mr)
GDR_KERNEL_COMMAND(ibv_cmd_reg_dmabuf_mr)
GDR_KERNEL_COMMAND(ibv_cmd_reg_mr)
GDR_KERNEL_COMMAND(ibv_cmd_req_notify_cq)
GDR_KERNEL_COMMAND(ibv_cmd_rereg_mr)
GDR_KERNEL_COMMAND(ibv_cmd_resize_cq)

// Negative where others are positive: it is a count when it succeeds.
GDR_EXPORT int ibv_cmd_poll_cq() {
  errno = EOPNOTSUPP;
  return -1;
}
#define GDR_POLL_IN(node)                                 \
  GDR_EXPORT_AS("ibv_cmd_poll_cq@IBVERBS_PRIVATE_" #node) \
  int ibv_cmd_poll_cq_##node() { return ibv_cmd_poll_cq(); }
GDR_POLL_IN(33)
GDR_POLL_IN(57)
GDR_POLL_IN(59)
GDR_POLL_IN(64)
GDR_POLL_IN(65)

// What came after release 44.
GDR_LATER_KERNEL_COMMAND(ibv_cmd_alloc_dmah)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_create_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_create_cq_ex2)
GDR_EXPORT int ibv_cmd_create_cq_ex2() { return EOPNOTSUPP; }  // release 56, in the node of 44
GDR_LATER_KERNEL_COMMAND(ibv_cmd_destroy_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_export_dmabuf_fd)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_free_dmah)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_inc_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_inc_err_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_qp_attach_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_query_comp_cntr_caps)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_query_port_speed)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_read_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_read_err_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_reg_mr_ex)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_set_comp_cntr)
GDR_LATER_KERNEL_COMMAND(ibv_cmd_set_err_comp_cntr)
