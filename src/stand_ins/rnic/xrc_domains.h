// XrcDomains: the XRC domains that this process has open. A domain opened by a file is one and the
// same in every process that opens it by that file, which is how processes share one.
//
//   std::uint32_t opened = *domains.open(device, fd, O_CREAT);
//   domains.at(opened) == ...;                 // what queue pairs and shared receive queues carry
//   domains.close(opened);
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/spin_lock.h"
#include "base/unique_fd.h"
#include "rnic/neighbours.h"
#include "rnic/segment.h"

namespace gdr::rnic {

class XrcDomains {
 public:
  XrcDomains(Segment& segment, Token self, Neighbours& neighbours)
      : segment_(segment), self_(self), neighbours_(neighbours) {}

  // `descriptor` -1: a domain that nobody else can open. As the kernel has it: without O_CREAT in
  // `flags` EAGAIN where the domain is not open anywhere, with O_EXCL EINVAL where it is; EBADF for
  // what is no descriptor, ENOMEM when all places are taken.
  Result<std::uint32_t> open(std::uint32_t device, int descriptor, int flags);
  void close(std::uint32_t opened);
  XrcDomain at(std::uint32_t opened) const { return opened_[opened].domain; }

  SpinLock& mutex() { return mutex_; }  // around a fork

 private:
  struct Opened {
    bool taken = false;
    XrcDomain domain;
    UniqueFd descriptor;  // its file's number is not given to another meanwhile
  };

  Result<XrcDomain> name_of(std::uint32_t device, int descriptor);

  Segment& segment_;
  const Token self_;
  Neighbours& neighbours_;
  SpinLock mutex_;
  std::uint32_t last_private_ = 0;
  Opened opened_[kXrcDomains];
};

}  // namespace gdr::rnic
