// What `gdr prove HOST` and the server there tell each other before a proof begins: the greeting
// (perf/greeting.h), what the server's host brings, and which of two things this connection is for.
// Afterwards it carries the proof's own messages (proof/messages.h), or those of `gdr perf`.
//
//   Result<Describe::Reply> far = talk.call(Describe{}, kLongTimeout);
#pragma once

#include "perf/greeting.h"
#include "perf/messages.h"
#include "proof/hosts/far_host.h"
#include "proof/messages.h"

namespace gdr::proof {

constexpr std::uint16_t kServerPort = 18601;
constexpr std::uint32_t kMagic = 0x67647276;  // "gdrv"
// Grows with every change of these and of the proof's messages. Rows are those of `gdr perf`.
constexpr std::uint32_t kProtocol = 2 * 1000 + perf::kProtocol;

// What the server's host brings. It has chosen a port and a GPU by its own command line.
struct Describe {
  bool gpus = true;  // false: between host memory alone
  bool require_hardware = false;
  GDR_FIELDS(gpus, require_hardware)
  using Reply = FarHost;
};
// From the reply on the server is B of this proof. The ticket is for BeginRows.
struct BeginProof {
  GDR_NO_FIELDS
  struct Reply {
    std::uint64_t ticket = 0;
    GDR_FIELDS(ticket)
  };
};
// From the reply on the server is the one of `gdr perf`, for rows of the proof that has this
// ticket.
struct BeginRows {
  std::uint64_t ticket = 0;
  GDR_FIELDS(ticket)
  using Reply = Nothing;
};

using HostMessages =
    std::tuple<Failure, Nothing, perf::Hello, perf::Challenge, perf::Challenge::Reply,
               perf::Authenticate, perf::Authenticate::Reply, Describe, FarHost, BeginProof,
               BeginProof::Reply, BeginRows>;
using HostTalk = process::Conversation<HostMessages>;

}  // namespace gdr::proof
