// The extended interface of completion queues: one completion at a time through readers.
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

constexpr std::uint64_t kServed =
    IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |
    IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS |
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK |
    IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_TM_INFO;
constexpr std::uint32_t kFlags =
    IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;

// 0 with the next completion in `current`, ENOENT when there is none, EIO after an overrun.
int advance(Cq& cq, std::uint32_t& left) {
  int taken = cq.queue->poll_in_batch(cq.current, cq.current_notes, left);
  if (taken == 0 && context_of(cq.base.context).adapter->progress()) {
    taken = cq.queue->poll_in_batch(cq.current, cq.current_notes, left);
  }
  if (taken == 0) return ENOENT;
  if (taken < 0) return EIO;
  cq.extended.wr_id = cq.current.wr_id;
  cq.extended.status = static_cast<ibv_wc_status>(cq.current.status);
  if (cq.current.status == IBV_WC_SUCCESS && (cq.current.opcode & IBV_WC_RECV) != 0) {
    usage::moved(context_of(cq.base.context).usage, cq.current.bytes);
  }
  return 0;
}

int start_poll(ibv_cq_ex* extended, ibv_poll_cq_attr* attributes) {
  if (attributes != nullptr && attributes->comp_mask != 0) return EINVAL;
  Cq& cq = cq_of(extended);
  cq.polling.lock();
  const int error = advance(cq, cq.left_in_batch);
  if (error != 0) {
    cq.polling.unlock();  // then there is no end_poll
    cq.queue->found_nothing();
  }
  return error;
}

// A batch ends with what was there when it began. A request that the program posts meanwhile may be
// done at once here, which takes a NIC some microseconds; the program that armed the queue before
// would find its completion in this batch, and nothing behind the event that was made for it
// (ibv_rc_pingpong -e -t gives up then).
int next_poll(ibv_cq_ex* extended) {
  Cq& cq = cq_of(extended);
  if (cq.left_in_batch == 0) return cq.queue->overrun() ? EIO : ENOENT;
  --cq.left_in_batch;
  std::uint32_t unused = 0;
  return advance(cq, unused);
}

void end_poll(ibv_cq_ex* extended) {
  Cq& cq = cq_of(extended);
  cq.queue->end_batch();
  cq.polling.unlock();
}

// The same for a queue that only one thread uses (IBV_CREATE_CQ_ATTR_SINGLE_THREADED).
int start_poll_alone(ibv_cq_ex* extended, ibv_poll_cq_attr* attributes) {
  if (attributes != nullptr && attributes->comp_mask != 0) return EINVAL;
  Cq& cq = cq_of(extended);
  const int error = advance(cq, cq.left_in_batch);
  if (error != 0) cq.queue->found_nothing();
  return error;
}
void end_poll_alone(ibv_cq_ex* extended) { cq_of(extended).queue->end_batch(); }

template <auto Member, typename Value>
Value read(ibv_cq_ex* extended) {
  return static_cast<Value>(cq_of(extended).current.*Member);
}

template <auto Member>
std::uint64_t read_time(ibv_cq_ex* extended) {
  return cq_of(extended).current_notes.*Member;
}

void read_tag(ibv_cq_ex* extended, ibv_wc_tm_info* info) {
  const rnic::TagInfo& tag = cq_of(extended).current_notes.tag;
  *info = {.tag = tag.tag, .priv = tag.context};
}

// No vendor's errors, no LIDs on Ethernet, no tag that was stripped from a frame, no flow rule that
// tags.
template <typename Value>
Value read_zero(ibv_cq_ex* /*extended*/) {
  return 0;
}

// The readers that these flags ask for, beside those that every queue has.
void set_readers(Cq& cq, std::uint64_t flags, bool one_thread) {
  using Entry = rnic::SharedCompletion;
  ibv_cq_ex& table = cq.extended;
  table.start_poll = one_thread ? start_poll_alone : start_poll;
  table.next_poll = next_poll;
  table.end_poll = one_thread ? end_poll_alone : end_poll;
  table.read_opcode = read<&Entry::opcode, ibv_wc_opcode>;
  table.read_vendor_err = read_zero<std::uint32_t>;
  table.read_wc_flags = read<&Entry::flags, unsigned>;
  if (flags & IBV_WC_EX_WITH_BYTE_LEN) table.read_byte_len = read<&Entry::bytes, std::uint32_t>;
  if (flags & IBV_WC_EX_WITH_IMM) table.read_imm_data = read<&Entry::immediate, __be32>;
  if (flags & IBV_WC_EX_WITH_QP_NUM) table.read_qp_num = read<&Entry::qp_number, std::uint32_t>;
  if (flags & IBV_WC_EX_WITH_SRC_QP) table.read_src_qp = read<&Entry::source_qp, std::uint32_t>;
  if (flags & IBV_WC_EX_WITH_SLID) table.read_slid = read_zero<std::uint32_t>;
  if (flags & IBV_WC_EX_WITH_SL) table.read_sl = read<&Entry::service_level, std::uint8_t>;
  if (flags & IBV_WC_EX_WITH_DLID_PATH_BITS) table.read_dlid_path_bits = read_zero<std::uint8_t>;
  if (flags & IBV_WC_EX_WITH_CVLAN) table.read_cvlan = read_zero<std::uint16_t>;
  if (flags & IBV_WC_EX_WITH_FLOW_TAG) table.read_flow_tag = read_zero<std::uint32_t>;
  if (flags & IBV_WC_EX_WITH_TM_INFO) table.read_tm_info = read_tag;
  if (flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) {
    table.read_completion_ts = read_time<&rnic::CompletionNotes::device_time>;
  }
  if (flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) {
    table.read_completion_wallclock_ns = read_time<&rnic::CompletionNotes::wall_time>;
  }
}

std::uint32_t traits_of(std::uint64_t wc_flags, std::uint32_t flags) {
  std::uint32_t traits = 0;
  if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) traits |= rnic::kRecordsDeviceTime;
  if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) traits |= rnic::kRecordsWallTime;
  if (wc_flags & IBV_WC_EX_WITH_TM_INFO) traits |= rnic::kRecordsTag;
  if (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) traits |= rnic::kIgnoresOverrun;
  return traits;
}

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) {
  return or_null([&]() -> ibv_cq_ex* {
    constexpr std::uint32_t kKnown = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    const std::uint32_t mask = attributes->comp_mask;
    if ((attributes->wc_flags & ~kServed) != 0 || (mask & ~kKnown) != 0) return fail(EOPNOTSUPP);
    const std::uint32_t flags = (mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attributes->flags : 0;
    if ((flags & ~kFlags) != 0) return fail(EOPNOTSUPP);
    Pd* domain = nullptr;
    if ((mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0) {
      if (attributes->parent_domain == nullptr) return fail(EINVAL);
      domain = &pd_of(attributes->parent_domain);
      if (domain->protection == nullptr) return fail(EINVAL);
    }
    Cq* cq = create_cq(context, attributes->cqe, attributes->cq_context, attributes->channel,
                       attributes->comp_vector, traits_of(attributes->wc_flags, flags));
    if (cq == nullptr) return nullptr;
    cq->domain = domain;
    if (domain != nullptr) ++domain->users;
    set_readers(*cq, attributes->wc_flags, (flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0);
    return &cq->extended;
  });
}

}  // namespace gdr::verbs
