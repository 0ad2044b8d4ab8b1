// Host: this process's place among the processes of its host: its slot, its adapter, its peers and
// the two sleeping threads that serve them. One per process, started by the first opened device.
//
//   Result<Host*> host = Host::instance(make_beyond);
//   if (!host) return host.error().code;
//   rnic::Adapter& adapter = (*host)->adapter();
#pragma once

#include <memory>

#include "base/result.h"
#include "rnic/adapter.h"

namespace gdr::local {

class Host {
 public:
  // Makes what carries requests beyond the host; null for nothing.
  using MakeBeyond = Result<std::unique_ptr<rnic::BeyondPath>> (*)(rnic::Adapter&);

  // Errors: a wrong GDR_SOFT_DEVICES (EINVAL), no free slot (ENOSPC), no memory or descriptors;
  // those of make_beyond.
  static Result<Host*> instance(MakeBeyond make_beyond);

  rnic::Adapter& adapter();

 private:
  struct Parts;
  explicit Host(std::unique_ptr<Parts> parts);
  ~Host();
  static Result<std::unique_ptr<Parts>> start(MakeBeyond make_beyond);
  static void prepare_fork();
  static void parent_of_fork();
  static void child_of_fork();

  std::unique_ptr<Parts> parts_;
};

}  // namespace gdr::local
