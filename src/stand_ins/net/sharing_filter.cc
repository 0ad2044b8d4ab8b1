#include "net/sharing_filter.h"

#include <algorithm>

#include "net/mad.h"
#include "rnic/shared.h"

namespace gdr::net {
namespace {

constexpr std::uint32_t kBySource = ~0u;   // no such place: the kernel picks by its own hash
constexpr std::uint32_t kQuestion = 0xff;  // where a packet has its opcode

// Offsets count from the BTH: the kernel has taken the UDP header off.
constexpr std::uint32_t kQueuePairAt = 4;
constexpr std::uint32_t kMadAt = wire::kBthBytes + wire::kDethBytes;

using Code = std::vector<sock_filter>;

void load(Code& code, std::uint16_t size, std::uint32_t at) {
  code.push_back(BPF_STMT(static_cast<std::uint16_t>(BPF_LD | BPF_ABS | size), at));
}
void go(Code& code, std::uint32_t place) { code.push_back(BPF_STMT(BPF_RET | BPF_K, place)); }
// What follows is for A == value; skips so many instructions else.
void if_equal(Code& code, std::uint32_t value, std::uint8_t skipped) {
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}

void add_listeners(Code& code, std::span<const ListenerPlace> listeners) {
  for (const ListenerPlace& one :
       listeners.first(std::min<std::size_t>(listeners.size(), kMostListenerPlaces))) {
    load(code, BPF_W, kMadAt + kMadServiceIdAt + 4);
    if_equal(code, static_cast<std::uint32_t>(one.service_id), 3);
    load(code, BPF_W, kMadAt + kMadServiceIdAt);
    if_equal(code, static_cast<std::uint32_t>(one.service_id >> 32), 1);
    go(code, one.place);
  }
  go(code, kBySource);
}

}  // namespace

std::vector<sock_filter> member_of_packet(std::span<const MemberPlace> members,
                                          std::span<const ListenerPlace> listeners) {
  Code code;
  load(code, BPF_W, kQueuePairAt);
  code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff'ffff));
  code.push_back(BPF_STMT(BPF_MISC | BPF_TAX, 0));
  load(code, BPF_B, 0);
  if_equal(code, kQuestion, 2);
  code.push_back(BPF_STMT(BPF_MISC | BPF_TXA, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_A, 0));
  code.push_back(BPF_STMT(BPF_MISC | BPF_TXA, 0));
  // Behind the management datagrams, with the slot in A, begin the members.
  if_equal(code, kGeneralServicesQueuePair, 1);
  code.push_back(BPF_STMT(BPF_JMP | BPF_JA, 2));
  code.push_back(BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, rnic::kQueuePairBits));
  const std::size_t over_mads = code.size();
  code.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
  load(code, BPF_H, kMadAt + kMadAttributeAt);
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMadReq, 1, 0));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMadSidrReq, 0, 1));
  const std::size_t to_listeners = code.size();
  code.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
  if_equal(code, kMadSidrRep, 2);
  load(code, BPF_W, kMadAt + kMadLocalIdAt);
  code.push_back(BPF_STMT(BPF_JMP | BPF_JA, 1));
  load(code, BPF_W, kMadAt + kMadRemoteIdAt);
  code.push_back(BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, kMadIdBits));
  code[over_mads].k = static_cast<std::uint32_t>(code.size() - over_mads - 1);
  for (const MemberPlace& member :
       members.first(std::min<std::size_t>(members.size(), kMostMemberPlaces))) {
    if_equal(code, member.slot, 1);
    go(code, member.place);
  }
  go(code, kBySource);
  code[to_listeners].k = static_cast<std::uint32_t>(code.size() - to_listeners - 1);
  add_listeners(code, listeners);
  return code;
}

}  // namespace gdr::net
