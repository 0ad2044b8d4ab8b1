#include "version/version.h"

#include "version/built.h"

namespace gdr {
namespace {

std::string compiler() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

std::string program_version() { return kBuilt.version; }

std::string described_version() {
  std::string text = std::string("gdr ") + kBuilt.number + " (commit " + kBuilt.commit;
  if (*kBuilt.date != '\0') text += std::string(", ") + kBuilt.date;
  return text + ")\n" + GDR_BUILD_TYPE " build, " + compiler() +
         ", " GDR_PROCESSOR ", glibc " GDR_GLIBC_NEEDED " or newer";
}

}  // namespace gdr
