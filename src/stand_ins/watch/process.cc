#include "watch/process.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

#include "ledger/witness.h"
#include "watch/locked.h"

namespace gdr::watch {
namespace {

constinit std::atomic<ledger::Ledger*> own_ledger{nullptr};
constinit std::atomic<ledger::Process*> own_process{nullptr};

void begin_process() {
  ledger::Ledger* all = ledger();
  if (all == nullptr) return;
  own_process.store(ledger::claim_process(*all, static_cast<std::uint32_t>(getpid()),
                                          program_invocation_short_name),
                    std::memory_order_release);
}

void before_fork() { pthread_mutex_lock(&table_mutex); }
void after_fork() { pthread_mutex_unlock(&table_mutex); }
void in_child() {
  after_fork();
  begin_process();
}

__attribute__((constructor)) void begin() {
  own_ledger.store(ledger::attach(std::getenv(ledger::kWatchVariable)), std::memory_order_release);
  if (ledger() == nullptr) return;
  begin_process();
  pthread_atfork(before_fork, after_fork, in_child);
}

// What is loaded now, at the end of main(), exit() or a library's life. A process that is killed
// does not come here; `gdr watch` also looks from outside.
__attribute__((destructor)) void end() {
  ledger::Process* own = process();
  if (own == nullptr) return;
  own->libraries.fetch_or(ledger::loaded_now(), std::memory_order_relaxed);
}

}  // namespace

ledger::Ledger* ledger() { return own_ledger.load(std::memory_order_acquire); }
ledger::Process* process() { return own_process.load(std::memory_order_acquire); }

std::uint32_t process_number() {
  ledger::Ledger* all = ledger();
  return all == nullptr ? ledger::kNone : ledger::number_of(all->process, process());
}

}  // namespace gdr::watch
