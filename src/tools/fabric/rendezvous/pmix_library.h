// PmixLibrary: the functions of PMIx, loaded where a launcher offers it. Nothing links the library,
// since `gdr` starts on hosts without it.
//
//   Result<const PmixLibrary*> pmix = PmixLibrary::load();
#pragma once

#include <pmix.h>

#include <string>

#include "base/result.h"

namespace gdr::fabric {

// The members are the library's functions without "PMIx_". Its headers' macros are not used: from
// version 5 on they call further functions.
struct PmixLibrary {
  // ENOENT: this host has none.
  static Result<const PmixLibrary*> load();

  // "4.2.2", without what the library says of its build
  std::string version() const;

  decltype(&::PMIx_Init) Init = nullptr;
  decltype(&::PMIx_Finalize) Finalize = nullptr;
  decltype(&::PMIx_Put) Put = nullptr;
  decltype(&::PMIx_Commit) Commit = nullptr;
  decltype(&::PMIx_Get) Get = nullptr;
  decltype(&::PMIx_Get_nb) Get_nb = nullptr;
  decltype(&::PMIx_Get_version) Get_version = nullptr;
  decltype(&::PMIx_Error_string) Error_string = nullptr;
};

}  // namespace gdr::fabric
