// Contents: what messages hold with --check. Every byte of every message differs by its position,
// its queue pair, its number and its direction, so that a block that is displaced, stale or another
// one's is seen.
//
//   contents.fill_outgoing(queue, message, outcome);
//   contents.verify_incoming(queue, message, outcome);   // counts in `outcome`
#pragma once

#include "perf/cases/task.h"

namespace gdr::perf {

class Contents {
 public:
  explicit Contents(Task& task);
  // Bytes of host memory that those of one thread take at most.
  static std::uint64_t most_of(const StationPlan& plan);

  // False: the memory could not be written or read, which `outcome` says.
  bool fill_outgoing(std::uint32_t queue, std::uint64_t message, Outcome& outcome);
  // What the other side reads.
  bool fill_incoming(std::uint32_t queue, std::uint64_t message, Outcome& outcome);
  bool verify_incoming(std::uint32_t queue, std::uint64_t message, Outcome& outcome);
  // Whether all of it lies there: counts nothing.
  bool has_arrived(std::uint32_t queue, std::uint64_t message, Outcome& outcome);
  // The same, of a message that lies elsewhere, and that a completion has told of.
  bool verify_at(std::uint64_t address, std::uint32_t queue, std::uint64_t message,
                 Outcome& outcome);
  // What was read from the other side.
  bool verify_outgoing(std::uint32_t queue, std::uint64_t message, Outcome& outcome);
  // The eight bytes that an atomic brought back.
  bool verify_fetched(std::uint32_t queue, std::uint64_t message, Outcome& outcome);
  // Before anything moves.
  bool clear(Outcome& outcome);

 private:
  enum class Sender : std::uint64_t { kClient = 1, kServer = 2 };
  std::uint64_t seed_of(Sender sender, std::uint32_t queue, std::uint64_t message) const;
  bool fill(std::uint64_t address, std::uint64_t seed, Outcome& outcome);
  // What may be lost has no completion here, and lies in memory or does not.
  bool verify(std::uint64_t address, Sender sender, std::uint32_t queue, std::uint64_t message,
              bool may_be_lost, Outcome& outcome);
  // Reads it into `found_`, and makes what should be there.
  bool read(std::uint64_t address, std::uint64_t seed, Outcome& outcome);
  bool is_as_expected() const;
  std::uint64_t place_of(std::uint32_t queue, std::uint64_t message) const;
  bool is_unchanged(std::span<const std::byte> found, std::uint64_t before) const;
  Sender self() const { return task_.is_client ? Sender::kClient : Sender::kServer; }
  Sender other() const { return task_.is_client ? Sender::kServer : Sender::kClient; }

  Task& task_;
  Station& station_;
  const Layout& layout_;
  std::vector<std::byte> expected_, found_;
};

}  // namespace gdr::perf
