#include "rnic/xrc_domains.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <mutex>

namespace gdr::rnic {
namespace {

constexpr std::uint64_t kPrivate = ~std::uint64_t{0};  // a file system that no file is on

bool is_open_in(Segment& segment, const XrcDomain& domain) {
  for (const SharedXrcDomain& place : segment.header().xrc_domains) {
    if (place.open.load() != 0 && read_once(place.domain) == domain) return true;
  }
  return false;
}

}  // namespace

Result<XrcDomain> XrcDomains::name_of(std::uint32_t device, int descriptor) {
  XrcDomain domain;
  std::memcpy(&domain.device, segment_.header().devices[device].mac, 6);
  if (descriptor < 0) {
    domain.file_system = kPrivate;
    domain.file = std::uint64_t{self_} << 32 | ++last_private_;
    return domain;
  }
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return Error{EBADF, "an XRC domain by no descriptor"};
  domain.file_system = status.st_dev;
  domain.file = status.st_ino;
  return domain;
}

Result<std::uint32_t> XrcDomains::open(std::uint32_t device, int descriptor, int flags) {
  const std::lock_guard guard(mutex_);
  std::uint32_t place = 0;
  while (place < kXrcDomains && opened_[place].taken) ++place;
  if (place == kXrcDomains) return Error{ENOMEM, "all XRC domains are in use"};
  Result<XrcDomain> domain = name_of(device, descriptor);
  if (!domain) return domain.error();
  const bool here = is_open_in(segment_, *domain);
  Opened& opened = opened_[place];
  if (descriptor >= 0) opened.descriptor.reset(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  // Shown before looking at the others: of two that open it at once, each sees the other.
  SharedXrcDomain& shared = segment_.header().xrc_domains[place];
  shared.domain = opened.domain = *domain;
  shared.open.store(1);
  const bool known =
      here || neighbours_.any_segment([&](Segment& other) { return is_open_in(other, *domain); });
  const bool missing = descriptor >= 0 && !known && (flags & O_CREAT) == 0;
  const bool not_first = known && (flags & O_EXCL) != 0;
  if (missing || not_first) {
    shared.open.store(0);
    opened.descriptor.reset();
    if (missing) return Error{EAGAIN, "nobody has this XRC domain open, and O_CREAT is not given"};
    return Error{EINVAL, "this XRC domain is open, and O_EXCL is given"};
  }
  opened.taken = true;
  return place;
}

void XrcDomains::close(std::uint32_t opened) {
  const std::lock_guard guard(mutex_);
  segment_.header().xrc_domains[opened].open.store(0);
  opened_[opened].descriptor.reset();
  opened_[opened].taken = false;
}

}  // namespace gdr::rnic
