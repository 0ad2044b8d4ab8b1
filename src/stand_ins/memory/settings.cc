#include "memory/settings.h"

#include "base/environment.h"

namespace gdr::memory {

Result<bool> copies_in_primary() {
  const std::string context = environment("GDR_GPU_CONTEXT").value_or("own");
  if (context == "own" || context == "primary") return context == "primary";
  return Error{EINVAL, "GDR_GPU_CONTEXT='" + context + "': allowed are own and primary"};
}

}  // namespace gdr::memory
