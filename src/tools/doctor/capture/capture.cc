#include "doctor/capture/capture.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/environment.h"
#include "base/output_file.h"
#include "doctor/capture/collector.h"
#include "doctor/capture/form.h"
#include "doctor/capture/harmless.h"
#include "doctor/capture/tar.h"
#include "doctor/capture/tree.h"
#include "doctor/checks/process/limits.h"
#include "doctor/container.h"
#include "doctor/environment.h"
#include "doctor/kernel_log.h"
#include "doctor/run.h"
#include "doctor/ticket/ticket.h"
#include "host/gpu_or_nic.h"
#include "host/inventory.h"

namespace gdr::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnvironmentFile = "proc/self/environ";

// Paths name people and projects: a capture has the file under a name of its own, and of what is in
// it the addresses that a check compares.
constexpr const char* kTopologyVariable = "NCCL_TOPO_FILE";
constexpr const char* kTopologyFile = "captured/nccl-topology.xml";

void put_topology_file(const host::Files& files, std::map<std::string, std::string>& variables,
                       Collector& collector) {
  const auto variable = variables.find(kTopologyVariable);
  if (variable == variables.end() || variable->second.empty() || variable->second[0] != '/') return;
  const std::string path = std::exchange(variable->second, std::string("/") + kTopologyFile);
  if (!files.exists(path.substr(1))) return;
  static const Form address("busid=\"[0-9a-fA-F:.]{4,16}\"");
  std::string text;
  for (const std::string& line : files.lines_with(path.substr(1), "busid=\"")) {
    if (const auto found = address.found_in(line)) text += "<pci " + *found + "/>\n";
  }
  collector.put(kTopologyFile, text);
}

// In the place of files that the checks read and that say more than they ask for.
void put_instead(const Host& host, Collector& collector) {
  const host::Files files(host.files.root());  // not logged
  std::map<std::string, std::string> variables = host.environment;
  put_topology_file(files, variables, collector);
  collector.put(kEnvironmentFile, harmless_variables(variables));
  if (pam_lifts_memory_limit(files)) collector.put(kPamLimits, "* - memlock unlimited\n");
  if (host.kernel_log) collector.put(kCapturedKernelLog, harmless_log(*host.kernel_log));
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The parts that differ between devices of one kind stand as one star.
std::string shape_of(const std::string& path) {
  std::string shape;
  bool star = false;
  for (const std::string_view part : split(path, '/')) {
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    const bool device = part.size() > 2 && part.find(':') != part.npos &&
                        part.find_first_of("0123456789") != part.npos;
    if (number || device) {
      if (!star) shape += "/*";
      star = true;
    } else {
      shape += "/" + std::string(part);
      star = false;
    }
  }
  return shape;
}

}  // namespace

Capture take_capture(const std::string& root) {
  Collector collector(root);
  const host::Files files(root, [&](const host::FileAccess& access) { collector.note(access); });
  host::Inventory inventory = host::take_inventory(files);
  host::read_product_data(files, inventory);
  Host host{files, inventory, read_environment(files), nullptr, {}, {}};
  host.kernel_log = read_kernel_log(files);
  Selection selection;
  selection.probes = false;
  static_cast<void>(examine(host, selection));
  static_cast<void>(look_at_container(host));
  static_cast<void>(facts_of(host));
  put_instead(host, collector);
  Capture capture = collector.collect();
  if (!host::shows_gpu_or_nic(inventory)) {
    capture.missing.emplace_back("a GPU or a NIC: gdr doctor and gdr topo refuse this capture");
  }
  if (!host.kernel_log) {
    capture.missing.emplace_back("kernel log (dmesg): run as root");
  }
  return capture;
}

Result<void> write_capture(const Capture& capture, const std::string& target) {
  for (const char* other : {".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip"}) {
    if (ends_with(target, other)) {
      return Error{EINVAL, target + ": a capture is a .tar file; write one, then compress it"};
    }
  }
  std::error_code error;
  if (ends_with(target, "/") || fs::is_directory(target, error)) return write_tree(capture, target);
  std::string archive;
  for (const auto& [path, captured] : capture.entries) add_to_tar(archive, path, captured);
  end_tar(archive);
  return write_output(target, archive, Existing::kRefuse, 0600);
}

std::map<std::string, std::size_t> shapes_of(const Capture& capture) {
  std::map<std::string, std::size_t> shapes;
  std::size_t names = 0;
  for (const auto& [path, captured] : capture.entries) {
    if (captured.kind == Captured::Kind::kFile && !captured.name_only) ++shapes[shape_of(path)];
    names += captured.name_only ? 1 : 0;
  }
  if (names > 0) shapes["only names of files in listed folders"] = names;
  return shapes;
}

std::vector<std::string> contents_of(const Capture& capture) {
  std::vector<std::string> lines;
  for (const auto& [shape, count] : shapes_of(capture)) {
    std::string number = std::to_string(count);
    lines.push_back(std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + number + "  " +
                    shape);
  }
  return lines;
}

}  // namespace gdr::doctor
