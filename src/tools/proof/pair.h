// Pair: two NIC ports and one GPU or two under proof: two workers, their buffers, the modes in
// every direction, the measurement.
//
//   Pair pair(context, selection);
//   if (Result<void> done = pair.open(); !done) return done.error();
//   pair.try_registrations();
//   pair.prove(modes);
//   pair.measure();
#pragma once

#include <optional>

#include "perf/unreachable.h"
#include "proof/hosts/far_host.h"
#include "proof/lane.h"
#include "proof/listener.h"
#include "proof/options.h"
#include "proof/process.h"

namespace gdr::proof {

// B on another host, behind the server there.
struct FarEnd {
  Client client;
  FarHost host;
  ServerOfProof server;
};

// What holds for the whole run.
struct Context {
  const Options& options;
  std::string verbs, cuda;
  std::vector<host::LoadedModule> peer_memory_modules;  // that this host's kernel has loaded
  Report& report;
  Listener& listener;
  FarEnd* far = nullptr;  // both sides are on this host
};

class Pair {
 public:
  Pair(Context& context, Selection selection);

  Result<void> open();
  // After open().
  Participants participants() const {
    return {near_.nic, far_.nic, near_.opened.gpu,     far_.opened.gpu,
            {},        {},       selection_.near_host, selection_.far_host};
  }
  // Each way of registering each kind of device memory, on a real buffer. What works is used.
  Result<void> try_registrations();
  // Default sizes shrink to what the GPU's memory holds, and a check says so.
  Result<void> make_buffers();
  void prove(std::span<const Mode* const> modes);
  // A small write over RC between host buffers. Quick, and no part of the report. Does it do all
  // that it should?
  bool reaches();
  // Does nothing of it come back at all, as where no network joins the ports?
  bool is_cut_off();
  // "::ffff:192.168.1.7", the addresses that they have.
  std::string near_gid() const { return perf::text_of_gid(near_.opened.gid); }
  std::string far_gid() const { return perf::text_of_gid(far_.opened.gid); }
  // The last thing that is done with it: its buffers make room.
  void measure();
  // Neither worker was lost.
  bool alive() const { return near_.client->alive() && far_.client->alive(); }
  // Why one was; success: none.
  Result<void> is_alive() const;

 private:
  std::optional<Observation> try_link();
  void prove_mode(const Mode& mode, const Direction& direction);
  // The other host's server has ended, or the connection to it: that says nothing of the hardware.
  bool is_deserted() const {
    return context_.far != nullptr && !far_.client->alive() &&
           far_.client->broken()->code != kWorkerLost;
  }
  std::optional<std::string> unusable(const Mode& mode) const;
  void run_cases(const Mode& mode, const std::vector<Case>& cases, Check& check);
  void conclude(const Mode& mode, const Case& c, const Observation& seen, Check& check);
  Circumstances circumstances(const Mode& mode, const Direction& direction);
  Result<void> try_registration(End& end, MemoryKind memory, Registration registration);
  // Works at both ends.
  bool works(MemoryKind kind) const { return near_.works.count(kind) && far_.works.count(kind); }
  std::vector<MemoryKind> working_kinds() const;
  Result<void> make_buffer(End& end, MemoryKind kind);
  Result<void> try_buffers();
  std::uint64_t largest() const;   // size
  std::uint64_t capacity() const;  // of a buffer that holds every size
  bool drop_largest_size();
  bool soft_nic() const { return context_.report.has_soft_nic(); }
  Result<Client*> start_far();
  CountPackets::Reply far_packets();
  void destroy_buffers();
  Measurement measure_direction(const Direction& direction);

  Context& context_;
  Selection selection_;
  std::optional<WorkerProcess> near_worker_, far_worker_;
  End near_, far_;
  std::optional<Lane> lane_;
  std::string scarce_gpu_;  // the one whose memory had too little room
  std::vector<std::uint64_t> sizes_;
  bool default_sizes_ = false;  // not asked for: a few of them do where all would add nothing
  bool frames_stay_within_hosts_ = false;  // of the software NIC: found out
  bool impatient_ = false;                 // a wait has run out: later ones are shorter, and fewer
  CountPackets::Reply packets_before_;
};

}  // namespace gdr::proof
