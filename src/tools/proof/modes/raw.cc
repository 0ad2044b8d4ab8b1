// Raw frames: an Ethernet/IPv4/UDP frame leaves NIC A and a flow rule on NIC B places it, headers
// and all, where the receive says: straight into GPU memory. The one proof that needs no route of
// the kernel between two ports of one host.
#include <unistd.h>

#include "proof/frame.h"
#include "proof/modes/steps.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kLeastPayload = 60 - kFrameHeaders;   // no padding by the NIC
constexpr std::uint64_t kMostPayload = 1514 - kFrameHeaders;  // an Ethernet without jumbo frames
constexpr std::uint64_t kReceiveSpace = 2048;

// A port of the private range (RFC 6335), another one for each proof that runs on the host: with
// one port for all, the flow rule of one would take the frames of another.
std::uint16_t own_port() { return static_cast<std::uint16_t>(49152 + getpid() % 16384); }

FrameAddress address_of(const End& from, const End& to) {
  FrameAddress address;
  address.destination_mac = to.opened.mac;
  address.source_mac = from.opened.mac;
  address.source_ipv4 = from.opened.ipv4;
  address.destination_ipv4 = to.opened.ipv4;
  address.source_port = own_port();
  address.destination_port = own_port();
  return address;
}

Limits limits(Lane&) { return {kLeastPayload, kMostPayload}; }

Result<void> prepare(Lane& lane) {
  for (const End* end : {&lane.near(), &lane.far()}) {
    if (!end->opened.ethernet) return Error{EPROTONOSUPPORT, "the port is not Ethernet"};
    if (!end->opened.has_mac) return Error{EADDRNOTAVAIL, "the port's MAC address is not known"};
    if (end->opened.ipv4 == 0) return Error{EADDRNOTAVAIL, "the port has no IPv4 address"};
  }
  auto done = lane.far().client->call(
      Steer{lane.far().queue, lane.far().opened.mac, lane.far().opened.ipv4, own_port()});
  if (!done) return done.error();
  return {};
}

// `c.size` is the payload; what travels and is compared is the whole frame.
Observation run(Lane& lane, const Case& c) {
  Observation seen;
  lane.next_case();
  Bytes payload(c.size);
  participants::fill_pattern(lane.data_seed(), 0, payload);
  const Bytes frame = build_frame(address_of(lane.near(), lane.far()), payload);
  Range source = lane.source(lane.near(), c);
  Range target = lane.target(lane.far(), c);
  source.length = target.length = frame.size();

  Result<void> done = lane.prepare(lane.far(), target);
  if (done) {
    auto stored = lane.near().client->call(Store{source.buffer, source.from, frame});
    if (!stored) done = stored.error();
  }
  if (!done) {
    seen.refused = done.error();
    return seen;
  }
  if (!post_receive(lane, {target.buffer, target.from, kReceiveSpace}, seen)) return seen;
  Execute send;
  send.operation = Operation::kSend;
  send.range = source;
  exchange(lane, send, seen);
  look(lane, lane.far(), target, seen, frame);
  check_length(frame.size(), seen);
  return seen;
}

}  // namespace

const Mode kRaw{.name = "raw",
                .title = "raw frame",
                .queue = QueueKind::kRaw,
                .host_source_only = true,
                .limits = limits,
                .prepare = prepare,
                .run = run};

}  // namespace gdr::proof
