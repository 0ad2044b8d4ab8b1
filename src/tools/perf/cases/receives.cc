#include "perf/cases/receives.h"

#include "perf/cases/requests.h"

namespace gdr::perf {
namespace {

constexpr std::uint32_t kRouteHeader = 40;

}  // namespace

// With slots (--check), receive i of a queue goes into slot i, and again into the same one: RC
// messages then lie in the slot of their number. Of shared receives nobody knows beforehand which
// queue pair takes which.
Receives::Receives(Station& station)
    : station_(station),
      shared_(station.shared_receives() != nullptr),
      of_each_(station.receives()),
      queues_(station.queues()) {
  const Layout& layout = station.layout();
  const std::uint64_t count =
      shared_ ? of_each_ : std::uint64_t{of_each_} * station.queues().size();
  places_.reserve(count);
  segments_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t queue = shared_ ? i / layout.slots % station.queues().size() : i / of_each_;
    const std::uint64_t slot = layout.slot(shared_ ? i : i % of_each_);
    const std::uint64_t at = station.queues()[queue].incoming + slot + layout.head;
    const std::uint32_t before = layout.head == 0 ? 0 : kRouteHeader;
    places_.push_back(at);
    segments_.push_back({at - before,
                         static_cast<std::uint32_t>(layout.stride - layout.head) + before,
                         station.lkey()});
  }
}

int Receives::post(std::uint64_t number) {
  ibv_recv_wr request{};
  request.wr_id = number;
  request.sg_list = &segments_[number];
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  const int code =
      shared_ ? ibv_post_srq_recv(station_.shared_receives(), &request, &refused)
              : ibv_post_recv(queues_[queues_.size() == 1 ? 0 : number / of_each_].receiver,
                              &request, &refused);
  return code >= 0 ? code : errno;
}

int Receives::post_all() {
  for (std::uint64_t i = 0; i < segments_.size(); ++i) {
    if (int code = post(i)) return code;
  }
  return 0;
}

bool Receives::repost(Outcome& outcome, const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) {
    outcome.fail(completion_error(station_, completion, "receive"));
    return false;
  }
  if (int code = post(completion.wr_id)) {
    outcome.fail(rdma::verbs_error("ibv_post_recv", code));
    return false;
  }
  return true;
}

}  // namespace gdr::perf
