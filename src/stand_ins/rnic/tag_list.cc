#include "rnic/tag_list.h"

#include <algorithm>
#include <memory>

namespace gdr::rnic {
namespace {

constexpr std::uint32_t kOfTag = 1u << 15;  // in SharedCompletion::srq: the mark is a tag's
static_assert(kSrqs < kOfTag);

constexpr std::uint32_t tag_stride(std::uint32_t segments) {
  return static_cast<std::uint32_t>(sizeof(SharedTag)) + receive_stride(segments);
}

std::uint16_t mark_of(std::uint32_t srq) { return static_cast<std::uint16_t>((srq + 1) | kOfTag); }

}  // namespace

TagTable::TagTable(Segment& segment, const SharedSrq& srq)
    : capacity(read_once(srq.tag_capacity)),
      stride(read_once(srq.tag_stride)),
      segments(read_once(srq.receive_segments)) {
  if (capacity > kMaxTags || segments > kMaxSegments || stride % 8 != 0 ||
      stride < tag_stride(segments)) {
    return;
  }
  base =
      static_cast<std::byte*>(segment.arena(read_once(srq.tags), std::uint64_t{capacity} * stride));
}

std::uint32_t match_tag(Segment& segment, const SharedSrq& srq, std::uint64_t tag) {
  const TagTable table(segment, srq);
  if (table.base == nullptr) return kNoTag;
  const std::uint32_t end = std::min(srq.tag_end.load(), table.capacity);
  std::uint32_t best = kNoTag, best_order = 0;
  for (std::uint32_t i = 0; i < end; ++i) {
    const SharedTag& entry = table.at(i);
    if (entry.state.load() != TagState::kLive) continue;
    if ((tag & read_once(entry.mask)) != read_once(entry.tag)) continue;
    const std::uint32_t order = read_once(entry.order);
    if (best != kNoTag && static_cast<std::int32_t>(order - best_order) > 0) continue;
    best = i;
    best_order = order;
  }
  return best;
}

void take_tag(Segment& segment, std::uint32_t srq, std::uint32_t index, TagState after,
              SharedCompletion* completion) {
  SharedSrq& shared = segment.srq(srq);
  SharedTag* tag = TagTable(segment, shared).find(index);
  if (tag == nullptr) return;
  completion->srq = mark_of(srq);
  completion->receive = read_once(tag->order);
  tag->after.store(after);
  shared.completing_tag.store(index + 1);
  tag->state.store(TagState::kTaken);
}

void tag_completed(Segment& segment, std::uint32_t srq, std::uint32_t index) {
  SharedSrq& shared = segment.srq(srq);
  SharedTag* tag = TagTable(segment, shared).find(index);
  if (tag == nullptr) return;
  tag->state.store(tag->after.load());
  shared.completing_tag.store(0);
}

void put_back_tag(Segment& segment, std::uint32_t srq, std::uint32_t index, const While& held) {
  SharedSrq& shared = segment.srq(srq);
  SharedTag* tag = TagTable(segment, shared).find(index);
  if (tag == nullptr || !held.holds()) return;
  tag->state.store(TagState::kLive);
  shared.completing_tag.store(0);
}

void mend_tag(Segment& segment, std::uint32_t srq, Token self, Liveness& liveness) {
  SharedSrq& shared = segment.srq(srq);
  if (shared.completing_tag.load(std::memory_order_relaxed) == 0) return;
  const std::uint32_t index = shared.completing_tag.exchange(0) - 1;
  SharedTag* tag = TagTable(segment, shared).find(index);
  if (tag == nullptr || tag->state.load() != TagState::kTaken) return;
  const bool completed =
      has_completed(segment, read_once(shared.completion_queue),
                    {.srq = mark_of(srq), .receive = read_once(tag->order)}, self, liveness);
  const bool due = tag->after.load() == TagState::kDue;
  tag->state.store(!completed ? TagState::kLive : due ? TagState::kDue : TagState::kFree);
}

Result<std::unique_ptr<TagList>> TagList::create(Segment& segment, SharedSrq& srq,
                                                 std::uint32_t capacity, std::uint32_t segments) {
  if (capacity == 0 || capacity > kMaxTags) return Error{EINVAL, "a queue has 1 to 4096 tags"};
  const std::uint64_t bytes = std::uint64_t{capacity} * tag_stride(segments);
  Result<std::uint64_t> offset = segment.allocate(bytes);
  if (!offset) return offset.error();
  auto* base = static_cast<std::byte*>(segment.arena(*offset, bytes));
  return std::unique_ptr<TagList>(new TagList(segment, srq, *offset, base, capacity, segments));
}

TagList::TagList(Segment& segment, SharedSrq& srq, std::uint64_t offset, std::byte* base,
                 std::uint32_t capacity, std::uint32_t segments)
    : segment_(segment),
      shared_(srq),
      offset_(offset),
      base_(base),
      capacity_(capacity),
      segments_(segments),
      stride_(tag_stride(segments)),
      handles_(capacity) {
  for (std::uint32_t i = 0; i < capacity; ++i) at(i).state.store(TagState::kFree);
  shared_.tag_capacity = capacity_;
  shared_.tag_stride = stride_;
  shared_.tags = offset_;
}

TagList::~TagList() { segment_.free(offset_); }

SharedTag& TagList::at(std::uint32_t index) const {
  return *reinterpret_cast<SharedTag*>(base_ + std::uint64_t{index} * stride_);
}

std::uint32_t TagList::end() const { return std::min(shared_.tag_end.load(), capacity_); }

int TagList::add(ibv_ops_wr& operation, bool live) {
  const auto& added = operation.tm.add;
  if (added.num_sge < 0 || static_cast<std::uint32_t>(added.num_sge) > segments_) return EINVAL;
  std::uint32_t index = 0;
  while (index < capacity_ && at(index).state.load() != TagState::kFree) ++index;
  if (index == capacity_) return ENOMEM;
  if (++last_order_ == 0) ++last_order_;
  SharedTag& tag = at(index);
  tag.order = last_order_;
  tag.tag = added.tag;
  tag.mask = added.mask;
  store_receive({.wr_id = added.recv_wr_id,
                 .next = nullptr,
                 .sg_list = added.sg_list,
                 .num_sge = added.num_sge},
                tag.receive());
  operation.tm.handle = handles_[index] = last_order_ << kMaxTagBits | index;
  tag.state.store(live ? TagState::kLive : TagState::kWaits);
  if (index >= end()) shared_.tag_end.store(index + 1);
  return 0;
}

bool TagList::remove(std::uint32_t handle) {
  const std::uint32_t index = handle & (kMaxTags - 1);
  if (index >= capacity_ || handles_[index] != handle) return false;
  const TagState state = at(index).state.load();
  if (state != TagState::kWaits && state != TagState::kLive) return false;
  at(index).state.store(TagState::kFree);
  handles_[index] = 0;
  std::uint32_t last = end();
  while (last > 0 && at(last - 1).state.load() == TagState::kFree) --last;
  shared_.tag_end.store(last);
  return true;
}

void TagList::make_live() {
  for (std::uint32_t i = 0; i < end(); ++i) {
    if (at(i).state.load() == TagState::kWaits) at(i).state.store(TagState::kLive);
  }
}

}  // namespace gdr::rnic
