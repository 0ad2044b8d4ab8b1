// Which libraries of RDMA a process had, told to `gdr run` when it ends: by this library, since it
// is in every process that the program starts, with the software NIC's libibverbs or without. What
// ends before `gdr run` has looked would else have loaded nothing, or so its last line would say.
#include "ledger/witness.h"

namespace gdr::netlink {
namespace {

__attribute__((destructor)) void end() { ledger::testify(); }

}  // namespace
}  // namespace gdr::netlink
