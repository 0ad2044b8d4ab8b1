#include "rsockets/mappings.h"

#include <algorithm>
#include <cerrno>
#include <limits>

namespace gdr::rsockets {

Mappings::~Mappings() {
  for (const Entry& entry : all_) ibv_dereg_mr(entry.region);
}

std::optional<std::uint32_t> Mappings::free_index() const {
  for (std::uint32_t index = 0; index < entries_; ++index) {
    if (std::ranges::none_of(all_, [&](const Entry& entry) { return entry.index == index; })) {
      return index;
    }
  }
  return std::nullopt;
}

int Mappings::add(ibv_pd* pd, void* buffer, std::size_t length, bool writable,
                  std::uint64_t offset) {
  if (length == 0 || length > std::numeric_limits<std::uint32_t>::max()) return EINVAL;
  Entry entry;
  entry.offset = offset;
  int access = IBV_ACCESS_LOCAL_WRITE;
  if (writable) {
    entry.index = free_index();
    if (!entry.index) return ENOMEM;
    access |= IBV_ACCESS_REMOTE_WRITE;
  }
  entry.region = ibv_reg_mr(pd, buffer, length, access);
  if (entry.region == nullptr) return errno != 0 ? errno : ENOMEM;
  all_.push_back(entry);
  if (entry.index) untold_.push_back(*entry.index);
  return 0;
}

int Mappings::remove(const void* buffer, std::size_t length) {
  const auto found = std::ranges::find_if(all_, [&](const Entry& entry) {
    return entry.region->addr == buffer && entry.region->length == length;
  });
  if (found == all_.end()) return EINVAL;
  if (found->index) std::erase(untold_, *found->index);
  ibv_dereg_mr(found->region);
  all_.erase(found);
  return 0;
}

std::optional<Mapping> Mappings::untold() const {
  if (untold_.empty()) return std::nullopt;
  const auto found = std::ranges::find_if(
      all_, [&](const Entry& entry) { return entry.index == untold_.front(); });
  if (found == all_.end()) return std::nullopt;
  const RemoteRange range{reinterpret_cast<std::uintptr_t>(found->region->addr),
                          found->region->rkey, static_cast<std::uint32_t>(found->region->length)};
  return Mapping{found->offset, range, *found->index};
}

void Mappings::told() {
  if (!untold_.empty()) untold_.pop_front();
}

}  // namespace gdr::rsockets
