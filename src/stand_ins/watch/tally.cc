#include "watch/tally.h"

#include "watch/regions.h"

namespace gdr::watch {
namespace {

struct Meaning {
  ledger::Operation operation = ledger::kOperations;  // none that moves bytes
  ledger::BytesOf bytes = ledger::kBytesOut;
};

Meaning meaning_of(int opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_TSO:
      return {ledger::kSends, ledger::kBytesOut};
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return {ledger::kWrites, ledger::kBytesOut};
    case IBV_WR_RDMA_READ:
      return {ledger::kReads, ledger::kBytesRead};
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return {ledger::kAtomics, ledger::kBytesRead};
    default:
      return {};
  }
}

}  // namespace

void Tally::add(std::uint32_t device, const ibv_send_wr& request) {
  const Meaning meaning = meaning_of(static_cast<int>(request.opcode));
  if (meaning.operation == ledger::kOperations) return;
  ++operations[meaning.operation];
  const bool is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& segment = request.sg_list[i];
    // The CPU has read what is inline.
    const ledger::Memory memory =
        is_inline ? ledger::Memory::kHost : memory_of(device, segment.lkey);
    bytes[meaning.bytes][static_cast<std::uint32_t>(memory)] += segment.length;
  }
}

void Tally::commit(ledger::Counts& counts) const {
  for (std::uint32_t kind = 0; kind < ledger::kBytesOf; ++kind) {
    for (std::uint32_t memory = 0; memory < ledger::kMemories; ++memory) {
      if (bytes[kind][memory] != 0) {
        counts.add(static_cast<ledger::BytesOf>(kind), static_cast<ledger::Memory>(memory),
                   bytes[kind][memory]);
      }
    }
  }
  for (std::uint32_t kind = 0; kind < ledger::kOperations; ++kind) {
    if (operations[kind] != 0) counts.add(static_cast<ledger::Operation>(kind), operations[kind]);
  }
}

}  // namespace gdr::watch
