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

std::string program_commit() { return kBuilt.commit; }

BuildFacts build_facts() {
  return {kBuilt.number, kBuilt.date, GDR_BUILD_TYPE, compiler(), GDR_PROCESSOR, GDR_GLIBC_NEEDED};
}

std::string described_version() {
  const BuildFacts facts = build_facts();
  std::string text = "gdr " + facts.number + " (commit " + kBuilt.commit;
  if (!facts.commit_date.empty()) text += ", " + facts.commit_date;
  return text + ")\n" + facts.build_type + " build, " + facts.compiler + ", " + facts.processor +
         ", glibc " + facts.glibc + " or newer";
}

}  // namespace gdr
