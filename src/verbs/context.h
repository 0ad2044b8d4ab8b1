// The function tables that programs call through: ibv_context.ops and verbs_context. Each file of
// an object fills in its own entries.
#pragma once

#include <infiniband/verbs.h>

namespace gdr::verbs {

void set_device_functions(verbs_context& context);
void set_port_functions(verbs_context& context);
void set_cq_functions(verbs_context& context);
void set_qp_functions(verbs_context& context);
void set_srq_functions(verbs_context& context);
void set_xrcd_functions(verbs_context& context);
void set_mw_functions(verbs_context& context);
void set_flow_functions(verbs_context& context);

}  // namespace gdr::verbs
