// The function tables that programs call through: ibv_context.ops and verbs_context. Each file of
// an object fills in its own entries.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "verbs/session.h"

namespace gdr::verbs {

// Null and errno. Without a session it gets its own; `command` is then to be empty.
ibv_context* open_context(Device& device, std::shared_ptr<Session> session, UniqueFd command);

void set_device_functions(verbs_context& context);
void set_port_functions(verbs_context& context);
void set_cq_functions(verbs_context& context);
void set_qp_functions(verbs_context& context);
void set_srq_functions(verbs_context& context);
void set_mr_functions(verbs_context& context);
void set_xrcd_functions(verbs_context& context);
void set_mw_functions(verbs_context& context);
void set_dm_functions(verbs_context& context);
void set_flow_functions(verbs_context& context);

}  // namespace gdr::verbs
