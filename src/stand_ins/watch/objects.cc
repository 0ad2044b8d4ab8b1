#include "watch/objects.h"

#include "watch/table.h"

namespace gdr::watch {
namespace {

constinit Table<1 << 10> contexts{};
constinit Table<1 << 16> queue_pairs{};
constinit Table<1 << 16> queue_pairs_by_number{};
constinit Table<1 << 14> completion_queues{};
constinit Table<1 << 14> shared_receives{};

std::uint64_t key_of_number(std::uint32_t device, std::uint32_t number) {
  return (std::uint64_t{device} + 1) << 32 | number;
}

template <typename Object>
Object* object_at(std::uint64_t value) {
  return reinterpret_cast<Object*>(static_cast<std::uintptr_t>(value));
}

}  // namespace

Context* find(const ibv_context* object) {
  return object_at<Context>(contexts.find(key_of(object)));
}
QueuePair* find(const ibv_qp* object) {
  return object_at<QueuePair>(queue_pairs.find(key_of(object)));
}
QueuePair* find_by_number(std::uint32_t device, std::uint32_t number) {
  return object_at<QueuePair>(queue_pairs_by_number.find(key_of_number(device, number)));
}
CompletionQueue* find(const ibv_cq_ex* object) {
  return object_at<CompletionQueue>(completion_queues.find(key_of(object)));
}

bool add(Context* made) { return contexts.insert(key_of(made->object), key_of(made)); }
bool add(QueuePair* made) {
  // Without its number only the memory of its receives is not known.
  queue_pairs_by_number.insert(key_of_number(made->device, made->object->qp_num), key_of(made));
  if (queue_pairs.insert(key_of(made->object), key_of(made))) return true;
  queue_pairs_by_number.remove(key_of_number(made->device, made->object->qp_num));
  return false;
}
bool add(CompletionQueue* made) {
  return completion_queues.insert(key_of(made->object), key_of(made));
}

void drop(Context* gone) { contexts.remove(key_of(gone->object)); }
void drop(QueuePair* gone) {
  queue_pairs.remove(key_of(gone->object));
  queue_pairs_by_number.remove(key_of_number(gone->device, gone->object->qp_num));
}
void drop(CompletionQueue* gone) { completion_queues.remove(key_of(gone->object)); }

std::uint32_t shared_receives_into(const ibv_srq* srq) {
  return static_cast<std::uint32_t>(shared_receives.find(key_of(srq)));
}
void note_shared_receive(const ibv_srq* srq, std::uint32_t bits) {
  const std::uint32_t known = shared_receives_into(srq);
  if ((known | bits) != known) shared_receives.insert(key_of(srq), known | bits);
}
void drop_shared(const ibv_srq* srq) { shared_receives.remove(key_of(srq)); }

}  // namespace gdr::watch
