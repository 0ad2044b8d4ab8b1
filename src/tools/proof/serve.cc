#include "proof/worker.h"

namespace gdr::proof {

int serve(Worker& worker, Talk& talk) {
  for (;;) {
    const Result<process::Received> request = talk.receive_any(process::kNoLimit);
    if (!request) return request.error().code == ECONNRESET ? 0 : 1;
    Result<void> answered = talk.answer(
        *request,
        [&](const auto& asked) -> decltype(worker.handle(asked)) { return worker.handle(asked); });
    const bool is_nonsense =
        !answered && (answered.error().code == EPROTO || answered.error().code == EBADMSG);
    if (is_nonsense) answered = talk.send(Failure{answered.error().code, answered.error().message});
    if (!answered) return 1;
  }
}

}  // namespace gdr::proof
