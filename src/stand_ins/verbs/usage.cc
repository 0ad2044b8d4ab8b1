#include "verbs/usage.h"

#include <errno.h>
#include <unistd.h>

#include <cstdlib>

#include "ledger/witness.h"
#include "net/pcap_port.h"

namespace gdr::verbs::usage {
namespace {

ledger::Ledger* own_ledger = nullptr;
ledger::Process* own_process = nullptr;

void note_full_capture(int error) {
  own_process->capture_error.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
}

// When the library is loaded, for a program that then chooses another network is the one that
// `gdr run` has to tell of.
__attribute__((constructor)) void begin() {
  own_ledger = ledger::attach(std::getenv(ledger::kRunVariable));
  if (own_ledger == nullptr) return;
  own_process = ledger::claim_process(*own_ledger, static_cast<std::uint32_t>(getpid()),
                                      program_invocation_short_name);
  if (own_process == nullptr) return;
  own_process->libraries.fetch_or(ledger::kSoftNic | ledger::kVerbs, std::memory_order_relaxed);
  net::PcapFile::when_full(&note_full_capture);
}

// What else is loaded by now. A process that is killed does not come here; `gdr run` also looks
// from outside.
__attribute__((destructor)) void end() {
  if (own_process == nullptr) return;
  own_process->libraries.fetch_or(ledger::loaded_now(), std::memory_order_relaxed);
}

}  // namespace

Counted opened(const char* device) {
  ledger::Device* found =
      own_ledger == nullptr ? nullptr : ledger::claim_device(*own_ledger, device);
  if (found != nullptr) found->opened.fetch_add(1, std::memory_order_relaxed);
  return found;
}

Recorded made_queue_pair(Counted device) {
  Recorded record = device != nullptr ? ledger::claim_queue_pair(*own_ledger) : nullptr;
  if (record == nullptr) return nullptr;
  record->process = ledger::number_of(own_ledger->process, own_process);
  record->device = ledger::number_of(own_ledger->device, device);
  record->peer_number = ledger::kNone;
  ledger::publish(record->state);
  return record;
}

void moved_to(Recorded queue_pair, ibv_qp_state state) {
  if (queue_pair == nullptr || state < IBV_QPS_RTR) return;
  queue_pair->now.store(state, std::memory_order_relaxed);
}

std::uint64_t bytes_of(const ibv_send_wr* list, const ibv_send_wr* end) {
  std::uint64_t bytes = 0;
  for (; list != nullptr && list != end; list = list->next) {
    if (list->opcode == IBV_WR_BIND_MW || list->opcode == IBV_WR_LOCAL_INV) continue;
    for (int i = 0; i < list->num_sge; ++i) bytes += list->sg_list[i].length;
  }
  return bytes;
}

}  // namespace gdr::verbs::usage
