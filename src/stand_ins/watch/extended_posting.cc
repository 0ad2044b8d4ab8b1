// The ibv_wr_* functions. Hot. A queue pair whose functions these are is always known.
#include "watch/extended.h"
#include "watch/regions.h"

namespace gdr::watch {
namespace {

using ledger::Memory;

QueuePair& known(ibv_qp_ex* qp) { return *find(&qp->qp_base); }

void begin(QueuePair& queue_pair, ledger::Operation operation, ledger::BytesOf kind) {
  ++queue_pair.batch.operations[operation];
  queue_pair.batch_kind = kind;
}

void add(QueuePair& queue_pair, Memory memory, std::uint64_t bytes) {
  queue_pair.batch.bytes[queue_pair.batch_kind][static_cast<std::uint32_t>(memory)] += bytes;
}

void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                       std::uint64_t compare, std::uint64_t swap) {
  QueuePair& own = known(qp);
  begin(own, ledger::kAtomics, ledger::kBytesRead);
  own.functions.wr_atomic_cmp_swp(qp, rkey, address, compare, swap);
}
void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                         std::uint64_t addend) {
  QueuePair& own = known(qp);
  begin(own, ledger::kAtomics, ledger::kBytesRead);
  own.functions.wr_atomic_fetch_add(qp, rkey, address, addend);
}
void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  QueuePair& own = known(qp);
  begin(own, ledger::kReads, ledger::kBytesRead);
  own.functions.wr_rdma_read(qp, rkey, address);
}
void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  QueuePair& own = known(qp);
  begin(own, ledger::kWrites, ledger::kBytesOut);
  own.functions.wr_rdma_write(qp, rkey, address);
}
void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 immediate) {
  QueuePair& own = known(qp);
  begin(own, ledger::kWrites, ledger::kBytesOut);
  own.functions.wr_rdma_write_imm(qp, rkey, address, immediate);
}
void wr_send(ibv_qp_ex* qp) {
  QueuePair& own = known(qp);
  begin(own, ledger::kSends, ledger::kBytesOut);
  own.functions.wr_send(qp);
}
void wr_send_imm(ibv_qp_ex* qp, __be32 immediate) {
  QueuePair& own = known(qp);
  begin(own, ledger::kSends, ledger::kBytesOut);
  own.functions.wr_send_imm(qp, immediate);
}
void wr_send_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
  QueuePair& own = known(qp);
  begin(own, ledger::kSends, ledger::kBytesOut);
  own.functions.wr_send_inv(qp, rkey);
}
void wr_send_tso(ibv_qp_ex* qp, void* header, std::uint16_t header_bytes, std::uint16_t mss) {
  QueuePair& own = known(qp);
  begin(own, ledger::kSends, ledger::kBytesOut);
  own.functions.wr_send_tso(qp, header, header_bytes, mss);
}

void wr_set_inline_data(ibv_qp_ex* qp, void* address, std::size_t bytes) {
  QueuePair& own = known(qp);
  add(own, Memory::kHost, bytes);
  own.functions.wr_set_inline_data(qp, address, bytes);
}
void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* buffers) {
  QueuePair& own = known(qp);
  for (std::size_t i = 0; i < count; ++i) add(own, Memory::kHost, buffers[i].length);
  own.functions.wr_set_inline_data_list(qp, count, buffers);
}
void wr_set_sge(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint32_t bytes) {
  QueuePair& own = known(qp);
  add(own, memory_of(own.device, key), bytes);
  own.functions.wr_set_sge(qp, key, address, bytes);
}
void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* segments) {
  QueuePair& own = known(qp);
  for (std::size_t i = 0; i < count; ++i) {
    add(own, memory_of(own.device, segments[i].lkey), segments[i].length);
  }
  own.functions.wr_set_sge_list(qp, count, segments);
}

void wr_start(ibv_qp_ex* qp) {
  QueuePair& own = known(qp);
  own.functions.wr_start(qp);
  own.batch = Tally{};
}
int wr_complete(ibv_qp_ex* qp) {
  QueuePair& own = known(qp);
  const Tally posted = own.batch;  // from here on another thread may start
  const int result = own.functions.wr_complete(qp);
  if (result == 0 && own.counts != nullptr) posted.commit(*own.counts);
  return result;
}

}  // namespace

// What the provider left out stays left out.
void wrap_posting(QueuePair& known) {
  auto* qp = reinterpret_cast<ibv_qp_ex*>(known.object);
  known.functions = *qp;
  if (known.record != nullptr) known.record->extended.store(1, std::memory_order_relaxed);
#define GDR_WRAP(function) \
  if (qp->function != nullptr) qp->function = function
  GDR_WRAP(wr_atomic_cmp_swp);
  GDR_WRAP(wr_atomic_fetch_add);
  GDR_WRAP(wr_rdma_read);
  GDR_WRAP(wr_rdma_write);
  GDR_WRAP(wr_rdma_write_imm);
  GDR_WRAP(wr_send);
  GDR_WRAP(wr_send_imm);
  GDR_WRAP(wr_send_inv);
  GDR_WRAP(wr_send_tso);
  GDR_WRAP(wr_set_inline_data);
  GDR_WRAP(wr_set_inline_data_list);
  GDR_WRAP(wr_set_sge);
  GDR_WRAP(wr_set_sge_list);
  GDR_WRAP(wr_start);
  GDR_WRAP(wr_complete);
#undef GDR_WRAP
}

void unwrap_posting(const QueuePair& known) {
  auto* qp = reinterpret_cast<ibv_qp_ex*>(known.object);
#define GDR_UNWRAP(function) qp->function = known.functions.function
  GDR_UNWRAP(wr_atomic_cmp_swp);
  GDR_UNWRAP(wr_atomic_fetch_add);
  GDR_UNWRAP(wr_rdma_read);
  GDR_UNWRAP(wr_rdma_write);
  GDR_UNWRAP(wr_rdma_write_imm);
  GDR_UNWRAP(wr_send);
  GDR_UNWRAP(wr_send_imm);
  GDR_UNWRAP(wr_send_inv);
  GDR_UNWRAP(wr_send_tso);
  GDR_UNWRAP(wr_set_inline_data);
  GDR_UNWRAP(wr_set_inline_data_list);
  GDR_UNWRAP(wr_set_sge);
  GDR_UNWRAP(wr_set_sge_list);
  GDR_UNWRAP(wr_start);
  GDR_UNWRAP(wr_complete);
#undef GDR_UNWRAP
}

}  // namespace gdr::watch
