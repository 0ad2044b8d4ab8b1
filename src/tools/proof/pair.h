// Pair: two NIC ports and one GPU or two under proof: two workers, their buffers, the modes in
// every direction, the measurement.
//
//   Pair pair(options, context, selection, report, listener);
//   if (Result<void> done = pair.open(); !done) return done.error();
//   pair.try_registrations();
//   pair.prove(modes);
//   pair.measure();
#pragma once

#include <array>
#include <optional>

#include "proof/lane.h"
#include "proof/listener.h"
#include "proof/options.h"
#include "proof/process.h"

namespace gdr::proof {

// What holds for the whole run.
struct Context {
  const Options& options;
  std::string verbs, cuda;
  Report& report;
  Listener& listener;
};

class Pair {
 public:
  Pair(Context& context, Selection selection);

  Result<void> open();
  // After open().
  Participants participants() const {
    return {near_.nic, far_.nic, near_.opened.gpu, far_.opened.gpu, {}, {}};
  }
  // Each way of registering each kind of device memory, on a real buffer. What works is used.
  Result<void> try_registrations();
  // Default sizes shrink to what the GPU's memory holds, and a check says so.
  Result<void> make_buffers();
  void prove(std::span<const Mode* const> modes);
  // Does anything arrive at all between these ports over RC? Quick, and no part of the report.
  bool reaches();
  // The last thing that is done with it: its buffers make room.
  void measure();
  // Neither worker was lost.
  bool alive() const { return near_.client->alive() && far_.client->alive(); }

 private:
  void prove_mode(const Mode& mode, const Direction& direction);
  std::optional<std::string> unusable(const Mode& mode) const;
  void run_cases(const Mode& mode, const std::vector<Case>& cases, Check& check);
  void conclude(const Mode& mode, const Case& c, const Observation& seen, Check& check);
  Circumstances circumstances(const Mode& mode, const Direction& direction) const;
  Result<void> try_registration(End& end, MemoryKind memory, Registration registration);
  // Works at both ends.
  bool works(MemoryKind kind) const { return near_.works.count(kind) && far_.works.count(kind); }
  std::vector<MemoryKind> working_kinds() const;
  Result<void> make_buffer(End& end, MemoryKind kind);
  Result<void> try_buffers();
  std::uint64_t largest() const;   // size
  std::uint64_t capacity() const;  // of a buffer that holds every size
  bool drop_largest_size();
  bool soft_nic() const { return context_.report.inventory.soft_nic; }
  void destroy_buffers();
  Measurement measure_direction(const Direction& direction);

  Context& context_;
  Selection selection_;
  std::optional<std::array<WorkerProcess, 2>> workers_;
  End near_, far_;
  std::optional<Lane> lane_;
  std::string scarce_gpu_;  // the one whose memory had too little room
  std::vector<std::uint64_t> sizes_;
  bool default_sizes_ = false;  // not asked for: a few of them do where all would add nothing
  bool impatient_ = false;      // a wait has run out: later ones are shorter, and fewer
  std::vector<host::Counter> counters_before_;
};

}  // namespace gdr::proof
