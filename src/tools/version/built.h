// The build found this out about the sources (cmake/Version.cmake).
#pragma once

namespace gdr {

struct Built {
  const char* version;  // with the commit, where it is no release
  const char* number;
  const char* commit;  // "7a19af9", "7a19af9-dirty", "unknown"
  const char* date;    // of the commit; empty: unknown
};

extern const Built kBuilt;

}  // namespace gdr
