// Posting what binds and invalidates memory windows. Cold.
#include <cstring>

#include "rnic/adapter.h"
#include "rnic/queue_pair.h"

namespace gdr::rnic {
namespace {

// Programs name local write, too, which nobody can ask of a window.
constexpr std::uint32_t kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_ZERO_BASED;
constexpr std::uint32_t kTag = 0xff;  // the part of a key that whoever binds chooses

bool is_type_1(const ibv_mw& window) {
  static_assert(sizeof window.type == sizeof(std::uint32_t));
  std::uint32_t type;
  std::memcpy(&type, &window.type, sizeof type);
  return type == IBV_MW_TYPE_1;
}

}  // namespace

// What a program can see to be wrong; the rest ends with IBV_WC_MW_BIND_ERR.
int QueuePair::check_bind(const ibv_send_wr& request) const {
  const ibv_mw* window = request.bind_mw.mw;
  const ibv_mw_bind_info& info = request.bind_mw.bind_info;
  if (window == nullptr) return EINVAL;
  const bool type_1 = is_type_1(*window);
  if (type_1 != ((request.send_flags & kBoundByVerb) != 0)) return EINVAL;
  if ((info.mw_access_flags & ~kAccess) != 0) return EINVAL;
  if (type_1 && (info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0) return EINVAL;
  if (info.mr == nullptr) return type_1 && info.length == 0 ? 0 : EINVAL;
  const auto region = adapter_.regions().describe(info.mr->lkey);
  return region && (region->attributes.access & IBV_ACCESS_MW_BIND) == 0 ? EINVAL : 0;
}

// The window has its new key from now on, as verbs has it: also if the request fails. Of the key
// that the program names only the tag counts, as for libmlx5 and irdma.
void QueuePair::store_window_request(const ibv_send_wr& request, SendRequest& slot) {
  slot.segment_count = slot.inline_bytes = 0;
  slot.total_bytes = 0;
  slot.flags &= ~(std::uint32_t{IBV_SEND_INLINE} | kBoundByVerb);
  if (request.opcode != IBV_WR_BIND_MW) return;
  ibv_mw& window = *request.bind_mw.mw;
  const ibv_mw_bind_info& info = request.bind_mw.bind_info;
  slot.remote_qp = window.handle;
  slot.remote_qkey = info.mr == nullptr ? 0 : info.mr->lkey;
  window.rkey = (window.rkey & ~kTag) | (request.bind_mw.rkey & kTag);
  slot.rkey = window.rkey;
  slot.compare_add = info.mw_access_flags;
  slot.remote_address = info.addr;
  slot.swap = info.length;
}

WindowBind SendRequest::window_bind() const {
  return {.window = remote_qp,
          .region = remote_qkey,
          .key = rkey,
          .access = static_cast<std::uint32_t>(compare_add),
          .address = remote_address,
          .length = swap};
}

}  // namespace gdr::rnic
