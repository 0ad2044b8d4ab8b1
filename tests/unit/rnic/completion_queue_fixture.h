// What the tests of completion queues share: one, and completions for it.
#pragma once

#include "adapter_fixture.h"
#include "rnic/completion_queue.h"

namespace gdr::rnic {

class CompletionQueueTest : public AdapterTest {
 protected:
  std::uint32_t pushed_ = 0;

  static SharedCompletion entry(std::uint64_t id, std::uint32_t qp = 1,
                                std::uint32_t status = IBV_WC_SUCCESS) {
    SharedCompletion completion{};
    completion.wr_id = id;
    completion.qp_number = qp;
    completion.status = status;
    return completion;
  }
  void push(std::uint64_t id, std::uint32_t qp = 1) { queue_->push(entry(id, qp), false); }
  std::vector<std::uint64_t> taken() { return ids(IBV_WC_SUCCESS); }
  using Ids = std::vector<std::uint64_t>;
};

}  // namespace gdr::rnic
