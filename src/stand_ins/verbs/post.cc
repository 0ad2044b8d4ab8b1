// Posting lists of work requests. Hot.
#include "verbs/post.h"

#include <mutex>

#include "verbs/objects.h"
#include "verbs/qp.h"

namespace gdr::verbs {

int post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad) {
  Qp& own = qp_of(qp);
  // Both interfaces may be used on one queue pair; a batch has reserved its room.
  const auto guard = own.batch == nullptr ? std::unique_lock<std::mutex>()
                                          : std::unique_lock(own.batch->posting());
  const usage::Counted usage = context_of(qp->context).usage;
  if (usage == nullptr) return own.queue->post_send(list, const_cast<const ibv_send_wr**>(bad));
  // Before it: whoever gets the completion may reuse the requests at once.
  const std::uint64_t bytes = usage::bytes_of(list, nullptr);
  const int error = own.queue->post_send(list, const_cast<const ibv_send_wr**>(bad));
  usage::moved(usage, error == 0 ? bytes : usage::bytes_of(list, *bad));
  return error;
}

int post_receive(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return qp_of(qp).queue->post_receive(list, const_cast<const ibv_recv_wr**>(bad));
}

}  // namespace gdr::verbs
