#include "peers/answers.h"

namespace gdr::peers {
namespace {

// A process that goes on fetches an answer within milliseconds.
constexpr Nanoseconds kLongestUnfetched = 5 * kSecond;

}  // namespace

void Answers::free_forgotten(rnic::Segment& segment, Nanoseconds now) const {
  for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
    if (segment.service_request(i).word.load() == 0) return;
  }
  for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
    std::uint64_t word = segment.service_request(i).word.load();
    if (rnic::service_state(word) == rnic::ServiceState::kAnswered &&
        now - answered_at_[i] > kLongestUnfetched) {
      segment.service_request(i).word.compare_exchange_strong(word, 0);
    }
  }
}

}  // namespace gdr::peers
