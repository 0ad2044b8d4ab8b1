// The benchmarks of one session; each goes on until its session ends.
#pragma once

#include "session.h"

namespace gdr::bench {

void register_transfers(Session& session);

}  // namespace gdr::bench
