#include "doctor/checks/process/variables.h"

#include <algorithm>

#include "base/environment.h"
#include "text/format.h"

namespace gdr::doctor {

const std::string* value_of(const Host& host, const std::string& name) {
  const auto found = host.environment.find(name);
  return found == host.environment.end() ? nullptr : &found->second;
}

Evidences variables_with(const Host& host, std::string_view prefix) {
  Evidences evidence;
  for (const auto& [name, value] : host.environment) {
    if (name.rfind(prefix, 0) == 0) evidence.push_back({name, value});
  }
  return evidence;
}

std::vector<std::string> nics_in(std::string_view list) {
  std::vector<std::string> names;
  for (std::string_view entry : split(list, ',')) {
    entry.remove_prefix(std::min(entry.find_first_not_of("^="), entry.size()));
    const std::string_view name = entry.substr(0, entry.find(':'));
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

bool has_rdma_device(const Host& host, const std::string& name) {
  return std::any_of(host.inventory.nics.begin(), host.inventory.nics.end(),
                     [&](const host::Nic& nic) { return nic.name == name; });
}

void judge_nic_list(const Host& host, const std::string& variable, const std::string& program,
                    Findings& findings) {
  const std::string* value = value_of(host, variable);
  if (value == nullptr || host.inventory.nics.empty()) return;
  for (const std::string& nic : nics_in(*value)) {
    if (has_rdma_device(host, nic)) continue;
    findings.push_back(wrong_variable(
        variable, *value, variable + " names " + nic + ", but this host has no such NIC",
        program + " does not use it."));
  }
}

std::vector<MissingGid> missing_gids(const Host& host, const std::string& index) {
  std::vector<MissingGid> missing;
  if (index.find_first_not_of("0123456789") != std::string::npos) return missing;
  for (const host::Nic& nic : host.inventory.nics) {
    for (const host::Port& port : nic.ports) {
      if (index.empty() || port.link_layer != "Ethernet" || !is_active(port)) continue;
      const auto gid = std::ranges::find_if(
          port.gids, [&](const host::Gid& each) { return std::to_string(each.index) == index; });
      const std::string place = nic.name + " port " + std::to_string(port.number);
      if (gid == port.gids.end()) {
        missing.push_back({place + " has no such GID", false});
      } else if (gid->type.find("v2") == std::string::npos) {
        missing.push_back({"on " + place + " that is " + gid->type, true});
      }
    }
  }
  return missing;
}

void judge_gid_index(const Host& host, const std::string& variable, const std::string& program,
                     Findings& findings) {
  const std::string* value = value_of(host, variable);
  if (value == nullptr) return;
  const std::vector<MissingGid> missing = missing_gids(host, *value);
  if (missing.empty()) return;
  findings.push_back(wrong_variable(
      variable, *value, variable + " is " + *value + ", and " + missing.front().where,
      program + " cannot connect over this port, or only to peers with the same type of GID."));
}

Finding wrong_variable(const std::string& name, const std::string& value,
                       const std::string& summary, const std::string& consequence) {
  return warn("", printable(summary), {{name, value}}, consequence,
              {to_type(text::Command("unset {}", name)),
               to_do("remove it from profiles, images and job scripts")});
}

}  // namespace gdr::doctor
