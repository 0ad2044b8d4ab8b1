// The functions of the data path that stand in place of the provider's: lists of work requests and
// completions. Hot: a look-up and some additions each.
#pragma once

#include <infiniband/verbs.h>

#include "watch/objects.h"

namespace gdr::watch {

// Puts them into the context, whose own ones `known` holds.
void wrap_data_path(ibv_context_ops& ops);

// A receive that has completed, in a queue pair with this number.
void count_receive(const Context& context, std::uint32_t queue_pair, std::uint64_t bytes);

}  // namespace gdr::watch
