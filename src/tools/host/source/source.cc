#include "host/source/source.h"

#include "host/source/draft.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"
#include "host/source/pasted_text.h"

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
  return {};
}

Result<Inventory> read_file(const std::string& path,
                            Result<Inventory> (*read)(std::string_view document)) {
  const Result<std::string> content = read_source_file(path);
  if (!content) return content.error();
  Result<Inventory> machine = read(without_windows(*content));
  if (!machine) return Error{machine.error().code, path + ": " + machine.error().message};
  return machine;
}

Result<Inventory> read_lspci_files(const std::vector<std::string>& paths) {
  std::vector<NamedText> texts;
  for (const std::string& path : paths) {
    Result<std::string> content = read_source_file(path);
    if (!content) return content.error();
    texts.push_back({path, *std::move(content)});
  }
  return read_lspci(texts);
}

}  // namespace

Result<Inventory> read_inventory(const Source& source) {
  if (const Result<void> usable = check(source); !usable) return usable.error();
  if (!source.hwloc_xml.empty()) return read_file(source.hwloc_xml, read_hwloc_xml);
  if (!source.nccl_xml.empty()) return read_file(source.nccl_xml, read_nccl_xml);
  if (!source.lspci.empty()) return read_lspci_files(source.lspci);
  const Files files(source.root);
  if (!files.problem().empty()) return Error{EINVAL, files.problem()};
  return take_inventory(files);
}

}  // namespace gdr::host
