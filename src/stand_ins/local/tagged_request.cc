// A message to a queue pair whose shared receive queue matches tags: its header decides which
// receive takes it. See rnic/tag_list.h.
#include <endian.h>
#include <infiniband/tm_types.h>

#include <algorithm>

#include "local/move_now.h"
#include "local/requester.h"

namespace gdr::local {
namespace {

struct Header {
  ibv_tmh message;
  ibv_rvh rendezvous;  // only of IBV_TMH_RNDV
};
static_assert(sizeof(Header) == 32);

// Only from memory that the CPU reaches.
bool read_header(const PieceList& from, Header* header) {
  PieceList start = from;
  start.truncate(sizeof *header);
  if (!start.cpu_reachable()) return false;
  PieceList to;
  to.add(plain_piece(header, start.bytes()));
  return move_now(start, to, {nullptr, {}}) == 0;
}

bool is_sound(const Header& header, std::uint64_t bytes) {
  if (bytes < sizeof header.message || header.message.opcode > IBV_TMH_EAGER) return false;
  return header.message.opcode != IBV_TMH_RNDV || bytes >= sizeof header;
}

}  // namespace

std::optional<Advance> enter_tags(Requester& requester) {
  if (requester.target.enter_tags()) return std::nullopt;
  return requester.wait_for_srq();
}

Advance begin_tagged(Requester& requester) {
  const std::uint64_t bytes = requester.from.bytes();
  Header header{};
  if (!read_header(requester.from, &header)) return requester.break_off(IBV_WC_LOC_PROT_ERR);
  if (!is_sound(header, bytes)) {
    return requester.break_off(IBV_WC_REM_INV_REQ_ERR, rnic::Failure::kInvalid);
  }
  if (std::optional<Advance> wait = enter_tags(requester)) return *wait;
  Target& target = requester.target;
  const bool eager = header.message.opcode == IBV_TMH_EAGER;
  const bool tagged = eager || header.message.opcode == IBV_TMH_RNDV;
  TagMatch& match = requester.tag;
  match = {};
  if (tagged) match.index = target.match_tag(be64toh(header.message.tag));
  const bool matched = match.index != rnic::kNoTag;
  match.unexpected = tagged && !matched;
  std::uint64_t needed = bytes;
  if (matched) needed = eager ? bytes - sizeof header.message : be32toh(header.rendezvous.len);
  TakenReceive receive;
  if (!matched) {
    if (auto wait = requester.match_receive(needed, &receive, &requester.to)) return *wait;
  } else if (!target.look_at_tag(match.index, needed, &receive, &requester.to)) {
    return requester.not_ready();
  }
  if (!requester.may_invalidate()) {
    return requester.break_off(IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  std::uint32_t flags = 0;
  if (matched) {
    match.info = {be64toh(header.message.tag), be32toh(header.message.app_ctx)};
    flags = eager ? IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID : IBV_WC_TM_MATCH;
    requester.from.drop(eager ? sizeof header.message : bytes);
  }
  requester.prepare_receive(receive.wr_id, tagged ? IBV_WC_TM_RECV : IBV_WC_TM_NO_TAG, needed);
  requester.receive.flags |= flags;
  requester.has_tag = true;
  if (receive.protection_error || requester.to.bytes() < needed) {
    return requester.refuse_receive(!receive.protection_error);
  }
  if (!matched || eager) return requester.deliver();
  match.rendezvous = {be64toh(header.rendezvous.va),  be32toh(header.rendezvous.rkey),
                      be32toh(header.rendezvous.len), 0,
                      header.message.app_ctx,         header.message.tag};
  match.announced = true;
  // First of all: what the receiver sends for it must not come before it.
  count_traffic(requester, Arrived::kYes);
  requester.queue_pair.complete_front(IBV_WC_SUCCESS, static_cast<std::uint32_t>(bytes));
  // Cut off in between: the message is lost, and so the connection has to be.
  if (requester.complete_receive() != Pushed::kYes) requester.queue_pair.fail();
  requester.abandon();
  return Advance::kCompleted;
}

}  // namespace gdr::local
