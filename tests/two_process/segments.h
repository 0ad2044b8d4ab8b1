// The shared memory of the processes that have met, as a process sees it that writes what it should
// not.
#pragma once

#include <cstdint>
#include <vector>

#include "rnic/shared.h"

namespace gdr::test {

// Descriptors of this process's segment and of its peers'.
std::vector<int> segment_descriptors();

// The same in mappings of the test's own: the device unmaps a peer's when that dies.
std::vector<std::uint8_t*> segments();

// Among them, that of the process with this queue pair; throws Failure when it is not there.
std::uint8_t* segment_of(std::uint32_t qp_number);

inline const rnic::SegmentHeader& header_of(const std::uint8_t* segment) {
  return *reinterpret_cast<const rnic::SegmentHeader*>(segment);
}
inline rnic::SegmentHeader& header_of(std::uint8_t* segment) {
  return *reinterpret_cast<rnic::SegmentHeader*>(segment);
}
inline rnic::SharedQueuePair& queue_pair_of(std::uint8_t* segment, std::uint32_t index) {
  return reinterpret_cast<rnic::SharedQueuePair*>(segment + rnic::kQueuePairsAt)[index];
}
inline rnic::SharedCompletionQueue& completion_queue_of(std::uint8_t* segment,
                                                        std::uint32_t index) {
  return reinterpret_cast<rnic::SharedCompletionQueue*>(segment + rnic::kCompletionQueuesAt)[index];
}
inline rnic::SharedSrq& srq_of(std::uint8_t* segment, std::uint32_t index) {
  return reinterpret_cast<rnic::SharedSrq*>(segment + rnic::kSrqsAt)[index];
}
inline rnic::ServiceRequest* service_requests_of(std::uint8_t* segment) {
  return reinterpret_cast<rnic::ServiceRequest*>(segment + rnic::kServiceRequestsAt);
}

}  // namespace gdr::test
