// Do all NICs of a model run the same firmware?
#include <algorithm>
#include <map>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace nic_firmware_check {

constexpr const char* kExplanation =
    "NICs of one model (board_id, the PSID) with different firmware may behave differently, and a "
    "collective is as fast as its slowest NIC. The check compares fw_ver of all NICs of a model "
    "and names those that differ from the majority.";

// Firmware is made for a board, if it is known, else for a device.
std::string model_of(const Host& host, const host::Nic& nic) {
  std::string board = host.files.line("sys/class/infiniband/" + nic.name + "/board_id");
  if (!board.empty()) return board;
  return std::to_string(nic.pci->vendor) + ":" + std::to_string(nic.pci->device);
}

using Versions = std::map<std::string, std::vector<const host::Nic*>>;

void judge(const std::string& model, const Versions& versions, Gathered& gathered) {
  const auto most = std::ranges::max_element(
      versions, {}, [](const auto& version) { return version.second.size(); });
  for (const auto& [version, nics] : versions) {
    for (const host::Nic* nic : nics) {
      Finding finding;
      finding.subject = label(*nic);
      finding.evidence = {{"/sys/class/infiniband/" + nic->name + "/fw_ver", version}};
      if (version == most->first) {
        finding.summary = "same firmware on all NICs of a model";
      } else {
        finding.outcome = Outcome::kWarn;
        finding.summary =
            "firmware " + version + ", where others of " + model + " run " + most->first;
        finding.consequence = "NICs of one model may behave differently.";
        finding.fix = {to_type(text::Command::of_each("sudo mlxfwmanager -d {} --query")),
                       to_do("update all NICs of " + model + " to one version")};
      }
      gathered.add(std::move(finding), nic->pci->address);
    }
  }
}

Findings find(const Host& host) {
  std::map<std::string, Versions> models;
  for (const host::Nic& nic : host.inventory.nics) {
    if (nic.pci && !nic.firmware.empty()) models[model_of(host, nic)][nic.firmware].push_back(&nic);
  }
  Gathered gathered("NICs");
  for (const auto& [model, versions] : models) judge(model, versions, gathered);
  return gathered.take(host.inventory.nics.empty() ? "no RDMA NIC"
                                                   : "cannot see any NIC's firmware version");
}

}  // namespace nic_firmware_check

const Check kNicFirmware{"nic-firmware",
                         Area::kNic,
                         "Same firmware on all NICs of a model",
                         nic_firmware_check::kExplanation,
                         90,
                         Cost::kPassive,
                         nic_firmware_check::find};

}  // namespace gdr::doctor
