// Side: one process's device with as many RC queue pairs as are asked for. Each has a completion
// queue of its own for what it sends, as most programs make them; all share one for receives.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gdr::bench {

constexpr std::uint32_t kDepth = 16;  // requests and receives of one queue pair
constexpr std::uint32_t kMessageBytes = 64;
constexpr int kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

template <typename Object>
using Owned = std::unique_ptr<Object, int (*)(Object*)>;

// The address and key of the other process's bytes.
struct Place {
  ibv_gid gid{};
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

enum class Wait { kPolling, kSleeping };

class Side {
 public:
  // `most`: queue pairs that it will have; `gives_way`: to others who need this core, and all of
  // the queue pairs' receives may complete before one is taken.
  explicit Side(std::uint32_t most, bool gives_way = false);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  ibv_pd* domain() const { return domain_.get(); }
  std::byte* bytes() { return buffer_.data(); }
  std::size_t size() const { return queue_pairs_.size(); }
  std::uint32_t number(std::size_t index) const { return queue_pairs_[index].pair->qp_num; }
  Place place() const;

  void add();          // a queue pair, in RESET
  void remove_last();  // with its completion queue
  void connect(std::size_t index, std::uint32_t number, const ibv_gid& gid);
  void post_receives(std::size_t index);  // kDepth of them

  // Requests complete in `take_sent`.
  void write(std::size_t index, std::uint64_t from, std::uint32_t local_key, std::uint64_t to,
             std::uint32_t remote_key);
  void write(std::size_t index, const Place& there);
  void send(std::size_t index);
  void take_sent(std::size_t index, std::uint32_t count);
  // Takes one message and posts its receive again. By which queue pair it came.
  std::size_t take_message(Wait wait);
  void arm();  // before the first message that is waited for asleep

 private:
  struct QueuePair {
    Owned<ibv_cq> sent;
    Owned<ibv_qp> pair;
  };
  void post_receive(std::size_t index);
  void wait_for_event();
  void idle() const;

  const bool gives_way_;
  std::vector<std::byte> buffer_;
  Owned<ibv_context> context_{nullptr, ibv_close_device};
  Owned<ibv_pd> domain_{nullptr, ibv_dealloc_pd};
  Owned<ibv_mr> region_{nullptr, ibv_dereg_mr};
  Owned<ibv_comp_channel> channel_{nullptr, ibv_destroy_comp_channel};
  Owned<ibv_cq> received_{nullptr, ibv_destroy_cq};
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace gdr::bench
