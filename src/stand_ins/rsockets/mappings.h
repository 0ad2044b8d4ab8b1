// Mappings: the program's buffers that riomap has registered with a connection, and which of them
// the peer has not been told of yet.
//
//   Result of riomap: int error = mappings.add(pd, buffer, length, writable, offset);
//   while (const Mapping* next = mappings.untold()) { send it; mappings.told(); }
//
// The socket's mutex guards it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "rsockets/protocol.h"

namespace gdr::rsockets {

struct Mapping {
  std::uint64_t offset = 0;
  RemoteRange range;
  std::uint32_t index = 0;  // in the peer's table
};

class Mappings {
 public:
  Mappings() = default;
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;
  ~Mappings();

  // `entries`: how many the peer's table holds.
  void begin(std::uint32_t entries) { entries_ = entries; }

  // Errno values; 0: done. ENOMEM: the peer's table is full.
  int add(ibv_pd* pd, void* buffer, std::size_t length, bool writable, std::uint64_t offset);
  int remove(const void* buffer, std::size_t length);

  std::optional<Mapping> untold() const;
  void told();

 private:
  struct Entry {
    ibv_mr* region = nullptr;
    std::uint64_t offset = 0;
    std::optional<std::uint32_t> index;  // none: registered for local use only
  };
  std::optional<std::uint32_t> free_index() const;

  std::uint32_t entries_ = 0;
  std::vector<Entry> all_;
  std::deque<std::uint32_t> untold_;  // indices, oldest first
};

}  // namespace gdr::rsockets
