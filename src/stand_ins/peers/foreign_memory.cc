#include "peers/foreign_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

namespace gdr::peers {
namespace {

// The owner's descriptor, here; none where it may not be had.
UniqueFd take_descriptor(int pidfd, int descriptor) {
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, descriptor, 0)));
}

std::shared_ptr<memory::PinnedMemory> open(const memory::Exported& exported, UniqueFd descriptor,
                                           MemoryCloser& closer) {
  if (exported.kind == memory::Exported::Kind::kDescriptor && !descriptor) return nullptr;
  auto opened = memory::PinnedMemory::open(exported, std::move(descriptor));
  if (!opened) return nullptr;
  return {opened->release(), [&closer](memory::PinnedMemory* memory) {
            closer.close(std::unique_ptr<memory::PinnedMemory>(memory));
          }};
}

}  // namespace

std::optional<ForeignMemory::Opened> ForeignMemory::find(rnic::Segment& segment,
                                                         std::uint32_t region,
                                                         std::uint64_t address,
                                                         std::uint64_t length) {
  const std::uint64_t identity = segment.exported(region).identity.load();
  if (identity == 0) return std::nullopt;
  const std::lock_guard guard(mutex_);
  const auto place = by_identity_.find(identity);
  if (place == by_identity_.end() || place->second.memory == nullptr) return std::nullopt;
  const Entry& entry = place->second;
  if (!entry.memory->still_valid()) {  // to be opened anew
    by_identity_.erase(place);
    seen_changes_.store(segment.header().export_changes.load() - 1);
    return std::nullopt;
  }
  if (address < entry.address || length > entry.length ||
      address - entry.address > entry.length - length) {
    return std::nullopt;
  }
  return Opened{entry.memory, entry.memory->address() + (address - entry.address)};
}

bool ForeignMemory::is_outdated(rnic::Segment& segment) const {
  return segment.header().export_changes.load() != seen_changes_.load();
}

void ForeignMemory::forget_failures(rnic::Segment& segment) {
  const std::lock_guard guard(mutex_);
  const auto failed =
      std::erase_if(by_identity_, [](const auto& entry) { return entry.second.memory == nullptr; });
  if (failed != 0) seen_changes_.store(segment.header().export_changes.load() - 1);
}

// What the owner shows and is not open, each allocation once; and what it shows no more, which is
// not to be found here any longer.
ForeignMemory::Changes ForeignMemory::take_changes(rnic::Segment& segment) {
  const std::uint32_t end = std::min(segment.header().export_end.load(), rnic::kRegions);
  std::set<std::uint64_t> present;
  Changes changes;
  const std::lock_guard guard(mutex_);
  for (std::uint32_t region = 0; region < end; ++region) {
    const memory::Exported exported = rnic::exported_by(segment, region);
    if (exported.kind == memory::Exported::Kind::kNone) continue;
    if (!present.insert(exported.identity).second) continue;
    if (!by_identity_.contains(exported.identity)) changes.shown.push_back(region);
  }
  std::erase_if(by_identity_, [&](auto& entry) {
    if (present.contains(entry.first)) return false;
    changes.withdrawn.push_back(std::move(entry.second.memory));
    return true;
  });
  return changes;
}

void ForeignMemory::keep(const memory::Exported& exported,
                         std::shared_ptr<memory::PinnedMemory> opened) {
  const std::lock_guard guard(mutex_);
  if (!owner_is_dead_) {
    by_identity_[exported.identity] = {std::move(opened), exported.address, exported.length};
  }
}

void ForeignMemory::let_go() {
  std::map<std::uint64_t, Entry> all;
  const std::lock_guard guard(mutex_);
  owner_is_dead_ = true;
  all.swap(by_identity_);
}

void ForeignMemory::update(rnic::Segment& segment, int pidfd, MemoryCloser& closer) {
  seen_changes_.store(segment.header().export_changes.load());
  const Changes found = take_changes(segment);
  for (const std::uint32_t region : found.shown) {
    // A descriptor's number may be another memory's by now: what was taken is that memory's only if
    // nothing has changed until then. What has is seen by the next update.
    const std::uint32_t changes = segment.header().export_changes.load();
    const memory::Exported exported = rnic::exported_by(segment, region);
    if (exported.kind == memory::Exported::Kind::kNone) continue;
    UniqueFd descriptor;
    if (exported.kind == memory::Exported::Kind::kDescriptor) {
      descriptor = take_descriptor(pidfd, exported.descriptor);
    }
    if (segment.header().export_changes.load() != changes) {
      seen_changes_.store(changes);
      continue;
    }
    keep(exported, open(exported, std::move(descriptor), closer));
  }
}

}  // namespace gdr::peers
