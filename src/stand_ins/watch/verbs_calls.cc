// The functions of libibverbs that are watched: devices, queue pairs, completion queues. Cold.
#include "watch/verbs_calls.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "watch/data_path.h"
#include "watch/extended.h"
#include "watch/objects.h"
#include "watch/process.h"
#include "watch/watched.h"

namespace gdr::watch {
namespace {

// A library may make one object through another call of its own; only the program's counts.
__thread int depth __attribute__((tls_model("initial-exec"))) = 0;

template <typename Object>
Object* make() {
  void* room = std::calloc(1, sizeof(Object));
  return room == nullptr ? nullptr : new (room) Object();
}

template <typename Object>
void discard(Object* object) {
  object->~Object();
  std::free(object);
}

// Where the context has this entry of the extended table; the provider may know an older one.
verbs_context* table_with(ibv_context* context, std::size_t offset) {
  verbs_context* table = verbs_get_ctx(context);
  return table == nullptr || table->sz < sizeof *table - offset ? nullptr : table;
}

void note_address(ledger::QueuePair& record, const ibv_qp_attr& attributes, int mask) {
  if ((mask & IBV_QP_DEST_QPN) != 0) record.peer_number = attributes.dest_qp_num;
  if ((mask & IBV_QP_AV) == 0) return;
  std::uint64_t gid[2];
  std::memcpy(gid, attributes.ah_attr.grh.dgid.raw, sizeof gid);
  record.peer_gid[0] = gid[0];
  record.peer_gid[1] = gid[1];
  record.peer_lid = attributes.ah_attr.dlid;
}

QueuePair* note_queue_pair(ibv_qp* object, bool by_provider) {
  const Context* context = find(object->context);
  ledger::Ledger* all = ledger();
  QueuePair* made = context == nullptr || all == nullptr ? nullptr : make<QueuePair>();
  if (made == nullptr) return nullptr;
  made->object = object;
  made->post_send = context->ops.post_send;
  made->post_receive = context->ops.post_recv;
  made->device = context->device;
  made->srq = object->srq;
  made->counts = context->rest;
  if (ledger::QueuePair* record = ledger::claim_queue_pair(*all)) {
    record->process = process_number();
    record->device = context->device;
    record->type = static_cast<std::uint32_t>(object->qp_type);
    record->number = object->qp_num;
    record->by_provider = by_provider ? 1 : 0;
    ledger::publish(record->state);
    made->record = record;
    made->counts = &record->counts;
  }
  if (add(made)) return made;
  discard(made);
  return nullptr;
}

ibv_qp* create_qp_ex(ibv_context* object, ibv_qp_init_attr_ex* attributes) {
  const Context* context = find(object);
  if (context == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  ++depth;
  ibv_qp* made = context->create_qp_ex(object, attributes);
  if (--depth != 0 || made == nullptr) return made;
  const int kept = errno;
  QueuePair* known = note_queue_pair(made, false);
  if (known != nullptr && (attributes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
    known->is_extended = true;
    wrap_posting(*known);
  }
  errno = kept;
  return made;
}

ibv_cq_ex* create_cq_ex(ibv_context* object, ibv_cq_init_attr_ex* attributes) {
  const Context* context = find(object);
  if (context == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  // What counting needs to know of each completion; without it where the provider refuses.
  ibv_cq_init_attr_ex more = *attributes;
  more.wc_flags |= IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM;
  ibv_cq_ex* made = context->create_cq_ex(object, &more);
  if (made == nullptr) {
    more.wc_flags = attributes->wc_flags;
    made = context->create_cq_ex(object, attributes);
  }
  CompletionQueue* known = made == nullptr ? nullptr : make<CompletionQueue>();
  if (known == nullptr) return made;
  known->object = made;
  known->context = context;
  known->shows_bytes = (more.wc_flags & IBV_WC_EX_WITH_BYTE_LEN) != 0;
  known->shows_queue_pair = (more.wc_flags & IBV_WC_EX_WITH_QP_NUM) != 0;
  if (!add(known)) {
    discard(known);
    return made;
  }
  wrap_polling(*known);
  return made;
}

void note_context(ibv_context* object) {
  ledger::Ledger* all = ledger();
  if (object == nullptr || all == nullptr || find(object) != nullptr) return;
  Context* made = make<Context>();
  if (made == nullptr) return;
  ledger::Device* device = ledger::claim_device(*all, object->device->name);
  if (device != nullptr) {
    device->opened.fetch_add(1, std::memory_order_relaxed);
    made->device = ledger::number_of(all->device, device);
    made->rest = &device->rest;
  }
  made->object = object;
  made->ops = object->ops;
  verbs_context* queue_pairs = table_with(object, offsetof(verbs_context, create_qp_ex));
  verbs_context* completions = table_with(object, offsetof(verbs_context, create_cq_ex));
  if (queue_pairs != nullptr) made->create_qp_ex = queue_pairs->create_qp_ex;
  if (completions != nullptr) made->create_cq_ex = completions->create_cq_ex;
  // What libibverbs calls on in the table must be there before, and found.
  if (!add(made)) return discard(made);
  wrap_data_path(object->ops);
  if (made->create_qp_ex != nullptr) queue_pairs->create_qp_ex = create_qp_ex;
  if (made->create_cq_ex != nullptr) completions->create_cq_ex = create_cq_ex;
}

// Takes the watch off an object for the time of a call that ends it, and puts it back on where the
// call failed.
template <typename Object, typename Off, typename Call, typename On>
int end_object(Object* known, Off off, Call call, On on) {
  if (known == nullptr) return call();
  drop(known);
  off(*known);
  const int result = call();
  if (result != 0 && add(known)) {
    on(*known);
  } else {
    discard(known);
  }
  return result;
}

}  // namespace

std::uint32_t device_of(const ibv_context* object) {
  const Context* context = find(object);
  return context == nullptr ? ledger::kNone : context->device;
}

Nested::Nested() { ++depth; }
Nested::~Nested() { --depth; }
bool Nested::is_outermost() { return depth == 1; }

}  // namespace gdr::watch

using namespace gdr::watch;  // NOLINT: the rest is the C interface of the namespace

namespace {

template <typename Pointer = void*>
Pointer missing() {
  errno = ENOSYS;
  return nullptr;
}

}  // namespace

GDR_WATCHED ibv_context* ibv_open_device(ibv_device* device) {
  auto* open = real<decltype(ibv_open_device)>(kOpenDevice);
  if (open == nullptr) return missing<ibv_context*>();
  ibv_context* opened = open(device);
  const int kept = errno;
  note_context(opened);
  errno = kept;
  return opened;
}

GDR_WATCHED ibv_context* ibv_import_device(int command) {
  auto* import = real<decltype(ibv_import_device)>(kImportDevice);
  if (import == nullptr) return missing<ibv_context*>();
  ibv_context* opened = import(command);
  const int kept = errno;
  note_context(opened);
  errno = kept;
  return opened;
}

GDR_WATCHED int ibv_close_device(ibv_context* object) {
  auto* close = real<decltype(ibv_close_device)>(kCloseDevice);
  if (close == nullptr) return ENOSYS;
  const auto unwrap = [object](const Context& known) {
    object->ops = known.ops;
    verbs_context* table = verbs_get_ctx(object);
    if (known.create_qp_ex != nullptr) table->create_qp_ex = known.create_qp_ex;
    if (known.create_cq_ex != nullptr) table->create_cq_ex = known.create_cq_ex;
  };
  const auto wrap = [object](const Context& known) {
    wrap_data_path(object->ops);
    verbs_context* table = verbs_get_ctx(object);
    if (known.create_qp_ex != nullptr) table->create_qp_ex = create_qp_ex;
    if (known.create_cq_ex != nullptr) table->create_cq_ex = create_cq_ex;
  };
  return end_object(
      find(object), unwrap, [=] { return close(object); }, wrap);
}

GDR_WATCHED ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  auto* create = real<decltype(ibv_create_qp)>(kCreateQp);
  if (create == nullptr) return missing<ibv_qp*>();
  const Nested nested;
  ibv_qp* made = create(pd, attributes);
  const int kept = errno;
  if (made != nullptr && Nested::is_outermost()) note_queue_pair(made, false);
  errno = kept;
  return made;
}

GDR_WATCHED int ibv_modify_qp(ibv_qp* object, ibv_qp_attr* attributes, int mask) {
  auto* modify = real<decltype(ibv_modify_qp)>(kModifyQp);
  if (modify == nullptr) return ENOSYS;
  const int result = modify(object, attributes, mask);
  if (result != 0) return result;
  const int kept = errno;
  QueuePair* known = find(object);
  // Made by a call of the provider's own, such as mlx5dv_create_qp, or opened (XRC).
  if (known == nullptr) known = note_queue_pair(object, true);
  if (known != nullptr && known->record != nullptr) {
    if ((mask & IBV_QP_STATE) != 0) {
      known->record->now = static_cast<std::uint32_t>(attributes->qp_state);
    }
    note_address(*known->record, *attributes, mask);
  }
  errno = kept;
  return 0;
}

GDR_WATCHED int ibv_destroy_qp(ibv_qp* object) {
  auto* destroy = real<decltype(ibv_destroy_qp)>(kDestroyQp);
  if (destroy == nullptr) return ENOSYS;
  const auto off = [](const QueuePair& known) {
    if (known.is_extended) unwrap_posting(known);
    if (known.record != nullptr) known.record->gone.store(1, std::memory_order_relaxed);
  };
  const auto on = [](QueuePair& known) {
    if (known.is_extended) wrap_posting(known);
    if (known.record != nullptr) known.record->gone.store(0, std::memory_order_relaxed);
  };
  return end_object(
      find(object), off, [=] { return destroy(object); }, on);
}

GDR_WATCHED int ibv_destroy_cq(ibv_cq* object) {
  auto* destroy = real<decltype(ibv_destroy_cq)>(kDestroyCq);
  if (destroy == nullptr) return ENOSYS;
  CompletionQueue* known = find(reinterpret_cast<ibv_cq_ex*>(object));
  return end_object(
      known, unwrap_polling, [=] { return destroy(object); }, wrap_polling);
}

GDR_WATCHED int ibv_destroy_srq(ibv_srq* object) {
  auto* destroy = real<decltype(ibv_destroy_srq)>(kDestroySrq);
  if (destroy == nullptr) return ENOSYS;
  const std::uint32_t bits = shared_receives_into(object);
  drop_shared(object);
  const int result = destroy(object);
  if (result != 0) note_shared_receive(object, bits);
  return result;
}
