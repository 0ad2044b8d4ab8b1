#include "watching/ledger_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace gdr::watching {
namespace {

// A low number would soon be another file's in a program that closes all it inherits.
constexpr int kHighDescriptor = 961;

}  // namespace

Result<LedgerFile> LedgerFile::make() {
  const UniqueFd low(memfd_create("gdr-watch-ledger", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!low || ftruncate(low.get(), sizeof(ledger::Ledger)) != 0) {
    return from_errno("memory for what the program does");
  }
  // Nobody can cut it off under a reader or a writer.
  if (fcntl(low.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return from_errno("sealing memory");
  }
  UniqueFd high(fcntl(low.get(), F_DUPFD, kHighDescriptor));
  if (!high) high = UniqueFd(fcntl(low.get(), F_DUPFD, 3));
  if (!high) return from_errno("a descriptor");
  void* base =
      mmap(nullptr, sizeof(ledger::Ledger), PROT_READ | PROT_WRITE, MAP_SHARED, high.get(), 0);
  if (base == MAP_FAILED) return from_errno("memory for what the program does");
  auto* made = static_cast<ledger::Ledger*>(base);
  made->bytes = sizeof(ledger::Ledger);
  made->magic = ledger::kMagic;
  return LedgerFile(std::move(high), made);
}

LedgerFile::LedgerFile(LedgerFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), ledger_(std::exchange(other.ledger_, nullptr)) {}

LedgerFile::~LedgerFile() {
  if (ledger_ != nullptr) munmap(ledger_, sizeof(ledger::Ledger));
}

std::string LedgerFile::variable() const {
  return fmt::format("/proc/{}/fd/{}:{}", getpid(), descriptor_.get(), descriptor_.get());
}

}  // namespace gdr::watching
