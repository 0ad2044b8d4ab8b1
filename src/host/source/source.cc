#include "host/source/source.h"

#include <filesystem>

namespace gdr::host {
namespace {

Result<void> check(const Source& source) {
  const int given = int{source.root != "/"} + int{!source.hwloc_xml.empty()} +
                    int{!source.nccl_xml.empty()} + int{!source.lspci.empty()};
  if (given > 1) {
    return Error{EINVAL,
                 "more than one description of a machine; give one of a root folder, an hwloc XML "
                 "file, an NCCL XML file, or text of lspci"};
  }
  if (source.lspci.size() > 2) {
    return Error{EINVAL, std::to_string(source.lspci.size()) +
                             " files of lspci; give one of lspci -vvv, one of lspci -tv, or both"};
  }
  std::error_code error;
  if (!std::filesystem::is_directory(source.root, error)) {
    return Error{EINVAL, "no folder " + source.root +
                             "; give one that holds a machine's sys and proc folders"};
  }
  return {};
}

}  // namespace

Result<Inventory> read_inventory(const Source& source) {
  if (const Result<void> usable = check(source); !usable) return usable.error();
  if (!source.hwloc_xml.empty()) return Error{ENOTSUP, "hwloc XML files cannot be read yet"};
  if (!source.nccl_xml.empty()) return Error{ENOTSUP, "NCCL XML files cannot be read yet"};
  if (!source.lspci.empty()) return Error{ENOTSUP, "text of lspci cannot be read yet"};
  return take_inventory(source.root);
}

}  // namespace gdr::host
