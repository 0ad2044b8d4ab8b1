#include "net/port_filter.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/bytes.h"
#include "net/mad.h"
#include "rnic/shared.h"
#include "wire/opcode.h"

namespace gdr::net {
namespace {

constexpr std::size_t kMostFlows = 200;    // a filter has at most 4096 instructions
constexpr std::size_t kMostSources = 400;  // the same
constexpr std::uint32_t kAll = ~0u;
constexpr std::uint32_t kLoopback = 1;  // its index, in every network namespace (LOOPBACK_IFINDEX)

// Offsets count from the UDP header; the IP header has some of its own.
constexpr std::uint32_t kSourcePortAt = 0, kBthAt = 8;
constexpr std::uint32_t kVersionAt = kBthAt + 1, kQueuePairAt = kBthAt + 4;
constexpr auto kNetwork = static_cast<std::uint32_t>(SKF_NET_OFF);
constexpr std::uint32_t kIpv4SourceAt = kNetwork + 12, kIpv6SourceAt = kNetwork + 8;
constexpr std::uint32_t kQkeyAt = kBthAt + wire::kBthBytes;
constexpr std::uint32_t kQuestion = 0xff;  // where a packet has its opcode
constexpr auto kRandom = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_RANDOM);
constexpr auto kInterface = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_IFINDEX);

using Code = std::vector<sock_filter>;

void load(Code& code, std::uint16_t size, std::uint32_t at) {
  code.push_back(BPF_STMT(static_cast<std::uint16_t>(BPF_LD | BPF_ABS | size), at));
}

// A row of comparisons of which the first that fails leaves it: to behind what is added last.
class Row {
 public:
  explicit Row(Code& code) : code_(code) {}
  ~Row() {
    for (const std::size_t at : exits_) {
      const auto behind = static_cast<std::uint8_t>(code_.size() - at - 1);
      (code_[at].jt == kLeave ? code_[at].jt : code_[at].jf) = behind;
    }
  }
  void require(std::uint32_t value) { jump(value, 0, kLeave); }
  void forbid(std::uint32_t value) { jump(value, kLeave, 0); }

 private:
  static constexpr std::uint8_t kLeave = 255;
  void jump(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    exits_.push_back(code_.size());
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no));
  }
  Code& code_;
  std::vector<std::size_t> exits_;
};

void require_source(Code& code, Row& row, const wire::Address& source) {
  if (wire::is_ipv4(source)) {
    load(code, BPF_W, kIpv4SourceAt);
    return row.require(load_be32(source.data() + 12));
  }
  for (std::uint32_t word = 0; word < 4; ++word) {
    load(code, BPF_W, kIpv6SourceAt + 4 * word);
    row.require(load_be32(source.data() + std::size_t{4} * word));
  }
}

// The queue pair's number is in A, and stays there if it is another's.
void accept_flow(Code& code, const KnownFlow& flow) {
  Row of_queue_pair(code);
  of_queue_pair.require(flow.number);
  if (flow.connected) {
    Row right(code);
    require_source(code, right, flow.source);
    if (flow.place == PeerPlace::kOwnAccount && flow.port != 0) {
      load(code, BPF_H, kSourcePortAt);
      right.require(flow.port);
    } else if (flow.place == PeerPlace::kBeyond) {
      load(code, BPF_W, kInterface);
      right.forbid(kLoopback);
    }
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, flow.connected ? 0 : kAll));
}

void accept_one_in_eight(Code& code) {
  load(code, BPF_W, kRandom);
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 7, 1, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
}

// The queue pair's number is in A, and stays there if it is another one. Whose a management
// datagram is depends on what is in it, so of one source chance chooses: senders try again.
void accept_mads(Code& code, const ThinnedMads& thinned) {
  Row to_general_services(code);
  to_general_services.require(kGeneralServicesQueuePair);
  {
    Row right(code);
    load(code, BPF_B, kBthAt);
    right.require(
        wire::make_opcode(wire::Transport::kUnreliableDatagram, wire::Operation::kSendOnly));
    load(code, BPF_W, kQkeyAt);
    right.require(kGeneralServicesQkey);
    for (const wire::Address& source : thinned.sources) {
      Row from_there(code);
      require_source(code, from_there, source);
      accept_one_in_eight(code);
    }
    if (thinned.all) accept_one_in_eight(code);
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
  }
  // A question to that place.
  load(code, BPF_B, kBthAt);
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kQuestion, 1, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  load(code, BPF_W, kQueuePairAt);
  code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff'ffff));
}

// The slot is in A.
void accept_slot(Code& code, std::uint32_t slot) {
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, slot, 0, 1));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
}

}  // namespace

std::vector<sock_filter> wanted_only(const PortRules& rules) {
  Code code;
  const sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  constexpr std::uint32_t kLeast = kBthAt + wire::kBthBytes + wire::kIcrcBytes;
  code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kLeast, 1, 0));
  code.push_back(drop);
  load(code, BPF_B, kVersionAt);
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x0f, 0, 1));
  code.push_back(drop);
  load(code, BPF_W, kQueuePairAt);
  code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff'ffff));
  code.push_back(BPF_STMT(BPF_MISC | BPF_TAX, 0));
  const bool one_by_one = rules.flows.size() <= kMostFlows;
  if (one_by_one) {
    for (const KnownFlow& flow : rules.flows) accept_flow(code, flow);
  }
  accept_mads(code, rules.mads);
  code.push_back(BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, rnic::kQueuePairBits));
  std::size_t slots = 0;
  for (const std::uint32_t slot : rules.slots) {
    if (slot == rules.own_slot || ++slots > kMostFlows) continue;
    accept_slot(code, slot);
  }
  if (!one_by_one) accept_slot(code, rules.own_slot);
  {
    Row question(code);
    question.require(0);
    load(code, BPF_H, kSourcePortAt);
    question.require(wire::kRocePort);
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
  }
  code.push_back(drop);
  return code;
}

std::vector<sock_filter> no_forged_hosts(const PortRules& rules) {
  Code code;
  load(code, BPF_W, kInterface);
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kLoopback, 1, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
  std::vector<wire::Address> sources;
  for (const KnownFlow& flow : rules.flows) {
    if (!flow.connected || flow.place != PeerPlace::kBeyond || sources.size() == kMostSources ||
        std::ranges::find(sources, flow.source) != sources.end()) {
      continue;
    }
    sources.push_back(flow.source);
    Row forged(code);
    require_source(code, forged, flow.source);
    code.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  }
  if (sources.empty()) return {};
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
  return code;
}

bool apply_filter(int socket, const std::vector<sock_filter>& code) {
  if (code.empty()) {
    const int unused = 0;
    return setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused) == 0 ||
           errno == ENOENT;
  }
  const sock_fprog program{static_cast<unsigned short>(code.size()),
                           const_cast<sock_filter*>(code.data())};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

}  // namespace gdr::net
