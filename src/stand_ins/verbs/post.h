// ibv_context_ops::post_send and post_recv.
#pragma once

#include <infiniband/verbs.h>

namespace gdr::verbs {

int post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad);
int post_receive(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad);

}  // namespace gdr::verbs
