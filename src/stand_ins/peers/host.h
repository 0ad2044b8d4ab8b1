// Host: this process's place among the processes of its host: its slot, its adapter, its peers and
// the sleeping thread that serves them. One per process, started by the first opened device.
//
//   Result<Host*> host = Host::instance(make_carriers);
//   if (!host) return host.error().code;
//   rnic::Adapter& adapter = (*host)->adapter();
#pragma once

#include <memory>

#include "base/result.h"
#include "peers/neighbours.h"
#include "rnic/adapter.h"

namespace gdr::peers {

// What carries the requests of this process's queue pairs.
struct Carriers {
  std::unique_ptr<rnic::LocalCarrier> local;
  std::unique_ptr<rnic::BeyondCarrier> beyond;  // null: nothing leaves this host
};

class Host {
 public:
  using MakeCarriers = Result<Carriers> (*)(rnic::Adapter&, Neighbours&);

  // Errors: a wrong GDR_SOFT_DEVICES (EINVAL), no free slot (ENOSPC), no memory or descriptors;
  // those of make_carriers.
  static Result<Host*> instance(MakeCarriers make_carriers);

  rnic::Adapter& adapter();

 private:
  struct Parts;
  explicit Host(std::unique_ptr<Parts> parts);
  ~Host();
  static Result<std::unique_ptr<Parts>> start(MakeCarriers make_carriers);
  static void prepare_fork();
  static void parent_of_fork();
  static void child_of_fork();

  std::unique_ptr<Parts> parts_;
};

}  // namespace gdr::peers
