// What a shared receive queue does about tags: operations on its list, and fetching what was only
// announced. See tag_list.h.
#include <mutex>

#include "base/raw.h"
#include "rnic/adapter.h"

namespace gdr::rnic {
namespace {

ibv_wc_opcode completion_opcode(std::uint32_t opcode) {
  if (opcode == IBV_WR_TAG_ADD) return IBV_WC_TM_ADD;
  return opcode == IBV_WR_TAG_DEL ? IBV_WC_TM_DEL : IBV_WC_TM_SYNC;
}

}  // namespace

int Srq::operate(ibv_ops_wr* list, ibv_ops_wr** bad) {
  int error = 0;
  {
    const std::lock_guard guard(post_lock_);
    for (ibv_ops_wr* operation = list; operation != nullptr; operation = operation->next) {
      error = closed_ || tags_ == nullptr ? EINVAL : operate_one(*operation);
      if (error == 0) continue;
      *bad = operation;
      break;
    }
  }
  // A message that found neither a tag nor a plain receive may find one now.
  if (shared_.waiting.load() != 0) wake_waiters();
  return error;
}

int Srq::operate_one(ibv_ops_wr& operation) {
  const std::uint32_t opcode = raw(operation.opcode);
  if (opcode > IBV_WR_TAG_SYNC) return EINVAL;
  const SrqGuard guard(adapter_.segment(), index_, adapter_.token(), adapter_.liveness());
  if ((operation.flags & IBV_OPS_TM_SYNC) != 0 || opcode == IBV_WR_TAG_SYNC) {
    unexpected_seen_ = operation.tm.unexpected_cnt;
  }
  const bool agreed = unexpected_seen_ == shared_.unexpected.load();
  if (agreed) tags_->make_live();
  SharedCompletion completion{};
  completion.status = IBV_WC_SUCCESS;
  if (opcode == IBV_WR_TAG_ADD) {
    if (const int error = tags_->add(operation, agreed)) return error;
  } else if (opcode == IBV_WR_TAG_DEL && !tags_->remove(operation.tm.handle)) {
    completion.status = IBV_WC_TM_ERR;
  }
  const bool signalled = (operation.flags & IBV_OPS_SIGNALED) != 0;
  if (!signalled && completion.status == IBV_WC_SUCCESS) return 0;
  completion.wr_id = operation.wr_id;
  completion.opcode = completion_opcode(opcode);
  completion.flags = agreed ? 0 : IBV_WC_TM_SYNC_REQ;
  adapter_.complete(*settings_.completion_queue, completion);
  return 0;
}

bool Srq::serve_rendezvous() {
  if (tags_ == nullptr) return false;
  bool left = false;
  for (std::uint32_t i = 0; i < tags_->end(); ++i) {
    if (tags_->at(i).state.load() == TagState::kDue) left |= !start_fetching(i);
  }
  return left;
}

// False: not now.
bool Srq::start_fetching(std::uint32_t index) {
  SharedTag& tag = tags_->at(index);
  const Rendezvous& shared = tag.rendezvous;
  const Rendezvous wanted{read_once(shared.address), read_once(shared.key),
                          read_once(shared.length),  read_once(shared.queue_pair),
                          read_once(shared.context), read_once(shared.tag)};
  const std::shared_ptr<QueuePair> through =
      adapter_.queue_pair(make_qp_number(slot_of(adapter_.token()), wanted.queue_pair));
  tag.state.store(TagState::kFetching);  // before it can be over
  const Fetch fetch = through == nullptr || through->settings().srq.get() != this
                          ? Fetch::kNever
                          : through->fetch(index, wanted, tag.receive(), settings_.max_segments);
  if (fetch == Fetch::kLater) tag.state.store(TagState::kDue);
  if (fetch == Fetch::kNever) fetched(index, false);
  return fetch != Fetch::kLater;
}

void Srq::fetched(std::uint32_t index, bool complete_and_right) {
  SharedTag& tag = tags_->at(index);
  SharedCompletion completion{};
  completion.wr_id = read_once(tag.receive().wr_id);
  completion.status = complete_and_right ? IBV_WC_SUCCESS : IBV_WC_TM_RNDV_INCOMPLETE;
  completion.opcode = IBV_WC_TM_RECV;
  completion.flags = complete_and_right ? IBV_WC_TM_DATA_VALID : 0;
  completion.bytes = complete_and_right ? read_once(tag.rendezvous.length) : 0;
  completion.qp_number =
      make_qp_number(slot_of(adapter_.token()), read_once(tag.rendezvous.queue_pair));
  tag.state.store(TagState::kFree);
  adapter_.complete(*settings_.completion_queue, completion);
}

}  // namespace gdr::rnic
