// What the collector of a run and its members tell each other. A member is a process of a host,
// with all of the host's rails or a share of them. It joins, opens its devices when it is told to
// begin, and then takes part in rounds, step by step. Between two steps the collector waits for
// all, so that all begin at the same time; nothing else crosses the fabric between rounds.
//
//   Talk talk(std::move(socket));
//   talk.send(Join{...});
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "fabric/round.h"
#include "participants/pattern.h"
#include "process/codec.h"
#include "process/conversation.h"

namespace gdr::fabric {

using process::Bytes;
using process::Failure;
using process::Nothing;

constexpr std::uint32_t kMagic = 0x67647266;  // "gdrf"
// Changes with every message below.
constexpr std::uint32_t kProtocol = 3;

// The collector's first word to whoever connects.
struct Welcome {
  std::uint32_t magic = kMagic, protocol = kProtocol;
  std::string version;
  process::Point point{};
  GDR_FIELDS(magic, protocol, version, point)
};

// The member's answer. The first fields never change, so that a member of another version can be
// named. `proof` shows that it knows the run's token (hub/token.h).
struct Knock {
  std::uint32_t magic = kMagic, protocol = kProtocol;
  std::string version;
  std::uint32_t rank = 0;
  process::Point point{};
  process::Digest proof{};
  GDR_FIELDS(magic, protocol, version, rank, point, proof)
};
// The collector knows the token, too. All that follows is sealed, both ways.
struct Admitted {
  std::array<std::uint8_t, 32> proof{};
  GDR_FIELDS(proof)
};
// Only now the member says where it is.
struct Join {
  std::string host;     // as the kernel calls it
  std::string machine;  // unlike any other host's until it is started again
  GDR_FIELDS(host, machine)
};

// What every member is to do in the same way.
struct Settings {
  std::uint64_t seed = 0;  // of patterns and packet sequence numbers
  std::uint64_t proof_bytes = 4 << 20;
  std::uint64_t message_bytes = 1 << 20;
  std::uint32_t latency_milliseconds = 20;
  std::uint32_t bandwidth_milliseconds = 100;
  std::uint32_t step_milliseconds = 10'000;  // after which a step is given up
  bool soft = false, require_hardware = false;
  bool host_memory = false;       // no GPU takes part
  std::vector<std::string> nics;  // that are rails, NAME or NAME:PORT; none: chosen by the host
  GDR_FIELDS(seed, proof_bytes, message_bytes, latency_milliseconds, bandwidth_milliseconds,
             step_milliseconds, soft, require_hardware, host_memory, nics)
};

// To a member: open the devices.
struct Begin {
  Settings settings;
  std::uint32_t share = 0, shares = 1;  // of the host's rails, those with number % shares == share
  bool is_whole_host = true;  // false: it stands for a host of its own, with only its share
  GDR_FIELDS(settings, share, shares, is_whole_host)
};

// Where a rail's memory and its two queue pairs are. It never changes in a run.
struct RailAddress {
  std::uint32_t outgoing = 0, incoming = 0;  // queue pair numbers
  std::array<std::uint8_t, 16> gid{};
  std::uint16_t lid = 0;
  bool global = false;        // addressed by GID
  std::uint8_t mtu = 0;       // as ibv_mtu
  std::uint64_t address = 0;  // where the peer writes
  std::uint32_t rkey = 0;
  GDR_FIELDS(outgoing, incoming, gid, lid, global, mtu, address, rkey)
};
struct MemberRail {
  std::uint16_t rail = 0;  // its number on the host
  std::string nic, gpu;
  bool software_nic = false, software_gpu = false;
  double link_bits_per_second = 0;
  std::string gid;
  std::string leaf, leaf_port;  // as the host's LLDP daemon says; empty: not known
  RailAddress address;
  GDR_FIELDS(rail, nic, gpu, software_nic, software_gpu, link_bits_per_second, gid, leaf, leaf_port,
             address)
};
// The member's answer to Begin.
struct Ready {
  std::vector<MemberRail> rails;
  std::vector<std::string> notes;  // what its host's user should know, a sentence each
  GDR_FIELDS(rails, notes)
};
// Instead: why its host cannot take part.
struct Unable {
  std::string reason;
  GDR_FIELDS(reason)
};

enum class Phase : std::uint8_t { kConnect, kProve, kLatency, kBandwidth };

// A rail's part in a round. Where there is no `to`, it sends nothing; without `from` it receives
// nothing.
struct Part {
  std::uint16_t rail = 0;
  bool has_to = false, has_from = false;
  HostIndex self = 0, to = 0, from = 0;
  std::uint16_t far_rail = 0;   // of `to`
  std::uint16_t near_rail = 0;  // of `from`
  RailAddress to_address, from_address;
  GDR_FIELDS(rail, has_to, has_from, self, to, from, far_rail, near_rail, to_address, from_address)
};
// The first step of a round: both queue pairs of each rail to RESET and to RTS again.
struct Connect {
  std::uint32_t round = 0;
  std::vector<Part> parts;
  GDR_FIELDS(round, parts)
};
// A further step of the round that is connected.
struct Go {
  std::uint32_t round = 0;
  Phase phase = Phase::kProve;
  GDR_FIELDS(round, phase)
};
// The other side of some rails is lost: their steps end now, with ECONNRESET. Or it could not send
// over one of them: then only what was to come over that rail ends.
struct Abandon {
  std::uint32_t round = 0;
  HostIndex host = 0;
  std::int32_t silent_rail = -1;  // of the member that is told; -1: the host is lost
  GDR_FIELDS(round, host, silent_rail)
};

struct RailResult {
  std::uint16_t rail = 0;
  // What it sent. 0: well; else an errno value, and in words.
  std::int32_t code = 0;
  std::string problem;
  double value = 0;  // kLatency: nanoseconds; kBandwidth: bytes a second
  // kProve: what it received.
  std::int32_t received_code = 0;  // 0: compared; else nothing came
  std::string received_problem;
  participants::Damage damage;
  GDR_FIELDS(rail, code, problem, value, received_code, received_problem, damage)
};
// The member's answer to Connect and to Go.
struct StepDone {
  std::uint32_t round = 0;
  Phase phase = Phase::kConnect;
  std::vector<RailResult> results;
  GDR_FIELDS(round, phase, results)
};

// What a suspect's host says of itself: gdr doctor's first finding, and the counters of errors that
// moved since Begin.
struct Examine {
  GDR_NO_FIELDS
};
struct Examined {
  std::string doctor;  // one line; empty: it found nothing
  struct Counter {
    std::uint16_t rail = 0;
    std::string name;
    std::int64_t moved = 0;
    GDR_FIELDS(rail, name, moved)
  };
  std::vector<Counter> counters;
  GDR_FIELDS(doctor, counters)
};

// The run is over: the member ends.
struct Finish {
  GDR_NO_FIELDS
};

// Nothing: the collector is still there. It says so now and then, since a member may have no part
// in many rounds.
constexpr Nanoseconds kHeartbeat = 10 * kSecond;

using Messages = std::tuple<Failure, Nothing, Welcome, Knock, Begin, Ready, Unable, Connect, Go,
                            Abandon, StepDone, Examine, Examined, Finish, Admitted, Join>;
using Talk = process::Conversation<Messages>;

}  // namespace gdr::fabric
