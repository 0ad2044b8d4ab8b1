// Fork: the software NIC pins no pages, it writes through the owner's page table, so copy-on-write
// after a fork does what the program expects and nothing has to be marked.
#include <infiniband/verbs.h>

#include "verbs/abi.h"

GDR_EXPORT int ibv_fork_init() { return 0; }
GDR_EXPORT ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
GDR_EXPORT int ibv_dontfork_range(void* /*base*/, std::size_t /*size*/) { return 0; }
GDR_EXPORT int ibv_dofork_range(void* /*base*/, std::size_t /*size*/) { return 0; }
