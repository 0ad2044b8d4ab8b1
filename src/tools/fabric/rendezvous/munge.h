// Munge: what only processes of this user can have written and can read, on all hosts of a cluster
// that has MUNGE, as most with Slurm do. Its library is loaded where it is; nothing links it.
//
//   Result<Munge> munge = Munge::open();
//   Result<std::string> credential = munge->seal("...");
//   Result<std::string> text = munge->unseal(*credential);   // on another host
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gdr::fabric {

class Munge {
 public:
  // ENOENT: this host has no libmunge, or its daemon does not answer.
  static Result<Munge> open();

  // Each credential can be unsealed once on each host, within minutes.
  Result<std::string> seal(std::string_view text) const;
  // EACCES: another user's, or not whole, or too late.
  Result<std::string> unseal(const std::string& credential) const;

 private:
  struct Library;
  explicit Munge(const Library* library) : library_(library) {}

  const Library* library_;
};

}  // namespace gdr::fabric
