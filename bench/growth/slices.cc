#include "slices.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "../give_up.h"

namespace gdr::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{kMostSlices} * kSliceBytes;

// All of it is there before anything is counted.
std::byte* mapped() {
  void* bytes = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (bytes == MAP_FAILED) give_up("mmap of {} bytes: {}", kBytes, std::strerror(errno));
  return static_cast<std::byte*>(bytes);
}

}  // namespace

SliceTable::SliceTable(ibv_pd* domain) : domain_(domain), bytes_(mapped()) {
  regions_.reserve(kMostSlices);
  slices_.keys.reserve(kMostSlices);
  slices_.address = reinterpret_cast<std::uintptr_t>(bytes_);
}

SliceTable::~SliceTable() {
  while (!regions_.empty()) remove_last();
  munmap(bytes_, kBytes);
}

void SliceTable::grow(std::uint32_t count) {
  while (regions_.size() < count) add();
}

void SliceTable::add() {
  std::byte* at = bytes_ + regions_.size() * kSliceBytes;
  ibv_mr* region = ibv_reg_mr(domain_, at, kSliceBytes, kRights);
  if (region == nullptr) {
    give_up("ibv_reg_mr beside {} registrations: {}", regions_.size(), std::strerror(errno));
  }
  regions_.push_back(region);
  slices_.keys.push_back(region->rkey);
}

void SliceTable::remove_last() {
  if (const int error = ibv_dereg_mr(regions_.back()); error != 0) {
    give_up("ibv_dereg_mr: {}", std::strerror(error));
  }
  regions_.pop_back();
  slices_.keys.pop_back();
}

}  // namespace gdr::bench
