// What client and server of `gdr perf` tell each other. The client decides everything; each request
// names its reply, and a Failure may come instead of any.
//
//   Result<SetUp::Reply> there = control.call(SetUp{load, largest}, timeout);
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "perf/greeting.h"
#include "perf/limits/facts.h"
#include "perf/load.h"
#include "perf/report.h"
#include "process/codec.h"

namespace gdr::perf {

constexpr std::uint32_t kMagic = 0x67647270;  // "gdrp"
// Grows with every change of what follows: sides of different protocols do not talk.
constexpr std::uint32_t kProtocol = 6;

using process::Failure;
using process::Nothing;

// The devices of the server, which its own command line has chosen.
struct Open {
  GDR_NO_FIELDS
  struct Port {
    std::uint8_t mtu = 0;  // as ibv_mtu
    bool atomics = false;
    std::uint64_t largest_message = 0;
    GDR_FIELDS(mtu, atomics, largest_message)
  };
  struct Reply {
    Side side;
    Facts facts;
    std::vector<Port> ports;  // as in side and facts
    GDR_FIELDS(side, facts, ports)
  };
};

// From here on until it goes the server measures for this client alone. How long all rows take at
// least.
struct Begin {
  std::uint64_t nanoseconds = 0;
  GDR_FIELDS(nanoseconds)
  using Reply = Nothing;
};

// One end of a connection. XRC has two queue pairs there, and the number of the receive queue.
struct QueueAddress {
  std::uint32_t number = 0, receiver_number = 0, shared_receives = 0;
  std::uint32_t packet_sequence = 0;
  GDR_FIELDS(number, receiver_number, shared_receives, packet_sequence)
};
// What one thread offers the other side's: a port, memory and queue pairs.
struct StationAddress {
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 16> gid{};
  bool global = false;
  std::uint16_t manager_port = 0;  // of the server's rdma_cm, at its GID
  std::uint64_t address = 0;       // of its incoming places, queue pair after queue pair
  std::uint32_t rkey = 0;
  std::vector<QueueAddress> queues;
  GDR_FIELDS(lid, gid, global, manager_port, address, rkey, queues)
};
struct SideAddress {
  std::vector<StationAddress> stations;
  GDR_FIELDS(stations)
};

// Memory, completion queues and queue pairs for messages up to `largest`.
struct SetUp {
  Load load;
  std::uint64_t largest = 0;
  std::uint8_t mtu = 0;  // as ibv_mtu
  GDR_FIELDS(load, largest, mtu)
  struct Reply {
    SideAddress address;
    std::uint64_t registered_bytes = 0;
    GDR_FIELDS(address, registered_bytes)
  };
};
// The server is to send a small datagram with a random number from its port `port` to that place:
// it carries no load to a place from which that number has not come back.
struct Probe {
  std::uint16_t port = 0;  // in Open::Reply's order
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 16> gid{};
  bool global = false;
  std::uint32_t queue_pair = 0;  // UD, of the client
  GDR_FIELDS(port, lid, gid, global, queue_pair)
  using Reply = Nothing;
};
// What has arrived there: more than one where others send there, too.
struct ProbeAnswer {
  std::vector<std::uint32_t> values;
  GDR_FIELDS(values)
  using Reply = Nothing;
};
struct Connect {
  SideAddress address;  // the client's: each place has answered a probe, but with load.rdma_cm
  GDR_FIELDS(address)
  using Reply = Nothing;
};

// How long: `slices` of `slice_nanoseconds` after the warm-up, or of so many messages if
// `slice_messages` is not 0.
struct Timing {
  std::uint64_t warm_up_nanoseconds = 0, slice_nanoseconds = 0, slice_messages = 0;
  std::uint32_t slices = 0;
  GDR_FIELDS(warm_up_nanoseconds, slice_nanoseconds, slice_messages, slices)
};
// The server is ready: receives are posted, threads wait for what arrives.
struct Start {
  std::uint64_t size = 0;
  Measure measure = Measure::kBandwidth;
  std::uint32_t signal_every = 1;  // requests for one completion
  Timing timing;
  std::uint64_t seed = 0;  // of the contents
  GDR_FIELDS(size, measure, signal_every, timing, seed)
  using Reply = Nothing;
};
// With --check, what moves at a time between the stations of one thread of either side: of each
// queue pair the messages `first` to `first + count`.
struct Window {
  std::uint32_t station = 0;
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  GDR_FIELDS(station, first, count)
};
// The server's part of it, in this order: to fill what it will send or what will be read there; to
// send it, both ways; to compare what has come, after the client has sent its own.
struct FillWindow {
  Window window;
  GDR_FIELDS(window)
  using Reply = Nothing;
};
struct MoveWindow {
  Window window;
  GDR_FIELDS(window)
  using Reply = Nothing;
};
struct VerifyWindow {
  Window window;
  GDR_FIELDS(window)
  struct Reply {
    std::uint64_t wrong = 0, lost = 0;
    std::string first;
    std::uint64_t nanoseconds = 0;  // both ways: from MoveWindow until it had sent its own
    GDR_FIELDS(wrong, lost, first, nanoseconds)
  };
};
struct Slice {
  std::uint64_t messages = 0, nanoseconds = 0;
  GDR_FIELDS(messages, nanoseconds)
};
// The client has sent that much on each queue pair, station after station; the server ends.
struct Finish {
  std::vector<std::uint64_t> sent;
  GDR_FIELDS(sent)
  struct Reply {
    std::vector<std::vector<Slice>> slices;  // of what the server sent: a list for each thread
    std::vector<std::uint64_t> sent;         // on each queue pair
    std::uint64_t received = 0, lost = 0, checked = 0, wrong = 0;
    std::string first_wrong, problem;
    double cores = 0;
    GDR_FIELDS(slices, sent, received, lost, checked, wrong, first_wrong, problem, cores)
  };
};
struct TearDown {
  GDR_NO_FIELDS
  using Reply = Nothing;
};

using Messages =
    std::tuple<Failure, Nothing, Hello, Open, Open::Reply, SetUp, SetUp::Reply, Connect, Start,
               FillWindow, MoveWindow, VerifyWindow, VerifyWindow::Reply, Finish, Finish::Reply,
               TearDown, Challenge, Challenge::Reply, Authenticate, Authenticate::Reply, Begin,
               Probe, ProbeAnswer>;

template <typename Message>
constexpr std::uint8_t number_of() {
  return process::place_in<Message, Messages>();
}

}  // namespace gdr::perf
