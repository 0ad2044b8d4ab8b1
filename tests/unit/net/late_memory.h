// Memory whose copies end when the test says so, registered with a client of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "far_memory_client.h"
#include "memory/pinned_memory.h"
#include "net/pinned_pool.h"
#include "rnic/region_table.h"

namespace gdr::net::test {

class LateClient final : public gdr::test::FarMemoryClient {
 public:
  struct Copy {
    std::uint64_t to, from, length;
  };

  using FarMemoryClient::start_copy;
  // Another GPU's copy begins when the one before it in its sequence has ended.
  Result<Ticket> start_copy(Side to, Side from, std::uint64_t length, Turn turn) override {
    if (!valid) return Error{EFAULT, "freed"};
    if (turn.sequence != nullptr) {
      const bool follows = turn.sequence->has_any && !done.contains(turn.sequence->last);
      if (follows && !one_gpu) return Error{EAGAIN, "another GPU's is under way"};
      *turn.sequence = {true, started.size() + 1};
    }
    started.push_back({to.address, from.address, length});
    return Ticket{started.size()};
  }
  Result<bool> finished(Ticket ticket) override {
    if (ticket > may_end) return false;
    const Copy& copy = started.at(ticket - 1);
    if (ticket == failing) {
      done[ticket] = true;
      return Error{EIO, "failed"};
    }
    if (!done[ticket]) {
      std::memcpy(reinterpret_cast<void*>(copy.to), reinterpret_cast<const void*>(copy.from),
                  copy.length);
    }
    done[ticket] = true;
    return true;
  }

  std::vector<Copy> started;
  std::map<Ticket, bool> done;
  Ticket may_end = 0, failing = 0;
  bool one_gpu = true;
};

// A GPU's memory, as the path sees it.
class LateMemory {
 public:
  explicit LateMemory(LateClient& client, std::size_t bytes = 1 << 20) : bytes(bytes) {
    pinned = *memory::PinnedMemory::pin_with(client, address(), bytes, true);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes.data()); }
  rnic::Place at(std::size_t offset) const {
    rnic::Place place;
    place.address = address() + offset;
    place.memory = pinned.get();
    place.reach = rnic::Reach::kServed;
    return place;
  }

  std::vector<std::byte> bytes;
  std::unique_ptr<memory::PinnedMemory> pinned;
};

// Blocks that are ready.
inline void wait_for(PinnedPool& pool, memory::PeerMemoryClient& client) {
  std::byte* block = nullptr;
  while ((block = pool.take(client)) == nullptr) usleep(1000);
  pool.give_back(block);
}

}  // namespace gdr::net::test
