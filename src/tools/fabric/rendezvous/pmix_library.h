// PmixLibrary: the functions of PMIx, loaded where a launcher offers it. Nothing links the library,
// since `gdr` starts on hosts without it.
//
//   Result<const PmixLibrary*> pmix = PmixLibrary::load();
#pragma once

#include <string>

#include "base/result.h"
#include "fabric/rendezvous/pmix_abi.h"

namespace gdr::fabric {

// The members are the library's functions without "PMIx_".
struct PmixLibrary {
  // ENOENT: this host has none.
  static Result<const PmixLibrary*> load();

  // "4.2.2", without what the library says of its build
  std::string version() const;

  pmix::Status (*Init)(pmix::Process* self, pmix::Info* info, std::size_t count) = nullptr;
  pmix::Status (*Finalize)(const pmix::Info* info, std::size_t count) = nullptr;
  pmix::Status (*Put)(std::uint8_t scope, const char* key, pmix::Value* value) = nullptr;
  pmix::Status (*Commit)() = nullptr;
  pmix::Status (*Get)(const pmix::Process* process, const char* key, const pmix::Info* info,
                      std::size_t count, pmix::Value** value) = nullptr;
  pmix::Status (*Get_nb)(const pmix::Process* process, const char* key, const pmix::Info* info,
                         std::size_t count, pmix::Answered answered, void* data) = nullptr;
  const char* (*Get_version)() = nullptr;
  const char* (*Error_string)(pmix::Status status) = nullptr;
};

}  // namespace gdr::fabric
