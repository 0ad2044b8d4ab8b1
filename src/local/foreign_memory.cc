#include "local/foreign_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

namespace gdr::local {
namespace {

std::shared_ptr<memory::PinnedMemory> open(const memory::Exported& exported, int pidfd) {
  UniqueFd descriptor;
  if (exported.kind == memory::Exported::Kind::kDescriptor) {
    descriptor.reset(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, exported.descriptor, 0)));
    if (!descriptor) return nullptr;
  }
  auto opened = memory::PinnedMemory::open(exported, std::move(descriptor));
  return opened ? *std::move(opened) : nullptr;
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
  if (address < entry.address || length > entry.length ||
      address - entry.address > entry.length - length) {
    return std::nullopt;
  }
  return Opened{entry.memory, entry.memory->address() + (address - entry.address)};
}

bool ForeignMemory::is_outdated(rnic::Segment& segment) const {
  return segment.header().export_changes.load() != seen_changes_.load();
}

bool ForeignMemory::update(rnic::Segment& segment, int pidfd) {
  seen_changes_.store(segment.header().export_changes.load());
  const std::uint32_t end = std::min(segment.header().export_end.load(), rnic::kRegions);
  std::set<std::uint64_t> present;
  std::vector<memory::Exported> arrived;
  for (std::uint32_t region = 0; region < end; ++region) {
    const memory::Exported exported = rnic::exported_by(segment, region);
    if (exported.kind == memory::Exported::Kind::kNone) continue;
    if (!present.insert(exported.identity).second) continue;
    const std::lock_guard guard(mutex_);
    if (!by_identity_.contains(exported.identity)) arrived.push_back(exported);
  }
  std::vector<std::shared_ptr<memory::PinnedMemory>> closed;  // outside the lock
  {
    const std::lock_guard guard(mutex_);
    std::erase_if(by_identity_, [&](auto& entry) {
      if (present.contains(entry.first)) return false;
      closed.push_back(std::move(entry.second.memory));
      return true;
    });
  }
  closed.clear();
  bool opened_some = false;
  for (const memory::Exported& exported : arrived) {
    auto opened = open(exported, pidfd);
    opened_some |= opened != nullptr;
    const std::lock_guard guard(mutex_);
    by_identity_[exported.identity] = {std::move(opened), exported.address, exported.length};
  }
  return opened_some;
}

}  // namespace gdr::local
