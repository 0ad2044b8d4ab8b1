// Parent domains: a protection domain seen through another ibv_pd, with a thread domain and the
// program's own allocator beside it.
#pragma once

#include "rnic/work_request.h"
#include "verbs/objects.h"

namespace gdr::verbs {

// Where the send ring of a queue pair made on `pd` comes from; empty for the library's own memory.
rnic::RingAllocator ring_allocator(Pd& pd);

// verbs_context::alloc_td and so on.
void set_parent_domain_functions(verbs_context& table);

// One whose users are all gone, of either kind.
void release_pd(Pd* pd);

}  // namespace gdr::verbs
