#include "ledger/witness.h"

#include <errno.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>

#include "ledger/libraries.h"

namespace gdr::ledger {
namespace {

int note(dl_phdr_info* object, std::size_t, void* flags) {
  if (object->dlpi_name == nullptr) return 0;
  *static_cast<std::uint64_t*>(flags) |= libraries_of(object->dlpi_name);
  return 0;
}

}  // namespace

std::uint64_t loaded_now() {
  std::uint64_t flags = 0;
  dl_iterate_phdr(note, &flags);
  return flags;
}

void testify() {
  const std::uint64_t flags = loaded_now();
  // The software NIC's own library counts for itself (src/stand_ins/verbs/usage.cc).
  if (flags == 0 || (flags & kSoftNic) != 0) return;
  Ledger* all = attach(std::getenv(kRunVariable));
  if (all == nullptr) return;
  Process* own =
      claim_process(*all, static_cast<std::uint32_t>(getpid()), program_invocation_short_name);
  if (own != nullptr) own->libraries.fetch_or(flags, std::memory_order_relaxed);
}

}  // namespace gdr::ledger
