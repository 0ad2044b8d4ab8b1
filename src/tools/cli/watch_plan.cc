#include "cli/watch_plan.h"

#include <fmt/format.h>

namespace gdr::cli {

Result<std::string> watch_preload(const ProgramFile& program, const std::string& library,
                                  const std::string& preloaded) {
  // Both separate files in LD_PRELOAD.
  if (library.find_first_of(" :") != std::string::npos) {
    return Error{EINVAL, fmt::format("{}: the path of gdrkit has a space or a colon, which "
                                     "LD_PRELOAD cannot hold; install gdrkit elsewhere",
                                     library)};
  }
  for (const std::string& name : program.needed) {
    if (name.starts_with("libasan.so")) {
      return Error{EINVAL, fmt::format("{} is built with the address sanitizer, which wants to be "
                                       "loaded first; build it without",
                                       program.path)};
    }
  }
  return preloaded.empty() ? library : library + ":" + preloaded;
}

}  // namespace gdr::cli
