// The answer: did the connections go the way that was expected, and if not, why.
//
//   const Report report = judge(reader.finish(), Expectation::kGdrdma);
//   return report.met ? 0 : 1;
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nccl/log.h"
#include "text/command.h"

namespace gdr::nccl {

enum class Expectation {
  kGdrdma,  // a network is used, and every connection over it has GPUDirect RDMA
  kLocal,   // no network is used: every connection stays inside a host
  kAny,     // there are connections
};

enum class Verdict {
  kGdrdma,         // every connection over a network has it
  kPartial,        // some have
  kNone,           // none has
  kNoNetwork,      // there are connections, and none goes over a network
  kNoConnections,  // the log has none
};

// Different connections, however often the log has them.
struct Counts {
  std::uint64_t connections = 0;
  std::uint64_t network = 0;  // P2P and the rest are what is left
  std::uint64_t gdrdma = 0;
  std::uint64_t plain = 0;      // over a network without GDRDMA
  std::uint64_t uncertain = 0;  // over a network, and the end of the message is missing
  std::uint64_t p2p = 0;
  std::uint64_t shared_memory = 0;
  std::uint64_t other = 0;
  // Parts of `plain`:
  std::uint64_t plain_ib = 0;
  std::uint64_t socket = 0;
  std::uint64_t plain_plugin = 0;
  // Parts of `plain` and `gdrdma`, by direction:
  std::uint64_t plain_sends = 0;
  std::uint64_t plain_receives = 0;
  std::uint64_t gdrdma_receives = 0;
};

struct Cause {
  std::string id;    // "distance": stable, for programs
  std::string what;  // one line
  std::optional<Evidence> evidence;
  text::Command next;
  std::string note;  // what to know before typing it; may be empty
};

struct Report {
  Log log;
  Expectation expectation = Expectation::kGdrdma;
  Counts counts;
  Verdict verdict = Verdict::kNoConnections;
  bool met = false;
  std::vector<Cause> causes;  // why it is not met, the likeliest first
  std::vector<Cause> also;    // errors that the log has besides
};

Report judge(Log log, Expectation expectation);

// Whether the connection's network is NCCL's own for InfiniBand and RoCE, or NVIDIA's plugin for
// the same.
bool is_ib(const Connection& connection);

}  // namespace gdr::nccl
