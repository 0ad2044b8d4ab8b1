#include "perf/control.h"

#include "perf/dial.h"

namespace gdr::perf {

Result<Control> Control::connect(const std::string& host, std::uint16_t port) {
  Result<UniqueFd> fd = dial(host, port, "gdr perf --server");
  if (!fd) return fd.error();
  return Control(*std::move(fd));
}

}  // namespace gdr::perf
