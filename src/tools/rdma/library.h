// Library: a libibverbs loaded at run time: the system's, or the software NIC's, by path.
//
//   Result<const rdma::Library*> verbs = rdma::Library::load("libibverbs.so.1");
//   if (!verbs) return verbs.error();
//   Result<std::vector<std::string>> names = (*verbs)->device_names();
//
// The members are the library's functions without "ibv_". A Library is never unloaded (providers
// cannot be) and stays valid until the process ends.
#pragma once

#include <infiniband/verbs.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace gdr::rdma {

class Library {
 public:
  static Result<const Library*> load(const std::string& path);

  // Where the library came from, as the dynamic linker knows it.
  const std::string& path() const { return path_; }

  Result<std::vector<std::string>> device_names() const;

#define GDR_VERBS_FUNCTION(member, symbol, version) decltype(&::symbol) member = nullptr;
#include "rdma/verbs_functions.inc"
#undef GDR_VERBS_FUNCTION

 private:
  std::string path_;
};

// An Error of a verbs call: "ibv_create_cq: Cannot allocate memory (errno 12)".
Error verbs_error(const char* call, int code);

}  // namespace gdr::rdma
