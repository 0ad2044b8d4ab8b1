// Would a management NIC carry data?
#include <algorithm>
#include <string_view>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "host/management.h"

namespace gdr::doctor {
namespace management_nics_check {

constexpr const char* kExplanation =
    "On HGX B200 and later, some ConnectX functions manage the machine's NVSwitches: NVIDIA's "
    "Fabric Manager uses them to reach the switches. They look like other RDMA NICs, and NCCL may "
    "use them for data, which fails or is slow. Their product data (VPD) contains SW_MNG "
    "(/sys/bus/pci/devices/*/vpd, for root; nvidia-fabricmanager-start.sh finds them in the same "
    "way); without it gdr recognises them by a link far slower than the other NICs'. gdr never "
    "chooses them, and checks whether NCCL_IB_HCA excludes them.";

// Reads the list like NCCL: "^" excludes the listed names, "=" compares whole names, otherwise
// prefixes; ":1" is a port.
bool takes(const std::string& value, const std::string& nic) {
  std::string_view list = value;
  const bool out = list.starts_with('^');
  if (out) list.remove_prefix(1);
  const bool exactly = list.starts_with('=');
  if (exactly) list.remove_prefix(1);
  const bool listed = std::ranges::any_of(split(list, ','), [&](std::string_view name) {
    name = name.substr(0, name.find(':'));
    return exactly ? nic == name : !name.empty() && nic.starts_with(name);
  });
  return list.empty() || listed != out;
}

std::string names_of(const std::vector<const host::Nic*>& nics) {
  std::string names;
  for (const host::Nic* nic : nics) {
    names += (names.empty() ? "" : ",") + label(*nic);
    for (const std::string& more : nic->more_names) names += "," + more;
  }
  return names;
}

Findings find(const Host& host) {
  std::vector<const host::Nic*> managing, taken;
  const auto setting = host.environment.find("NCCL_IB_HCA");
  const std::string value = setting == host.environment.end() ? "" : setting->second;
  Evidences evidence = {{"NCCL_IB_HCA", value.empty() ? "not set" : value}};
  bool named = true;
  for (const host::Nic& nic : host.inventory.nics) {
    if (nic.management.empty()) continue;
    managing.push_back(&nic);
    if (takes(value, label(nic))) taken.push_back(&nic);
    named = named && host::has_rdma_name(nic);
    evidence.push_back({label(nic), nic.management});
  }
  if (managing.empty()) return does_not_apply("no management NIC");
  const std::string names = names_of(managing);
  const bool certain = std::ranges::all_of(
      managing, [](const host::Nic* nic) { return nic->management == host::kSaysManagement; });
  const std::string what =
      names + ": " + (certain ? host::kManagementRemark : host::kLikelyManagementRemark);
  if (host.inventory.gpus.empty()) return {ok("", what, std::move(evidence))};
  if (taken.empty()) return {ok("", what + "; NCCL_IB_HCA excludes them", std::move(evidence))};
  // A captured machine's names are anybody's.
  const bool typable = named && std::ranges::all_of(split(names, ','), text::is_plain_name);
  const Fix fix =
      typable
          ? Fix{to_type(text::Command("export NCCL_IB_HCA=^={}", names)),
                to_type(text::Command("echo NCCL_IB_HCA=^={} | sudo tee -a /etc/nccl.conf", names))}
          : Fix{to_do("remove their RDMA names from NCCL_IB_HCA"), {}};
  return {warn("",
               what + "; NCCL would use " +
                   (taken.size() == managing.size() ? std::string("them") : names_of(taken)),
               std::move(evidence),
               "NCCL connects over a network that is not for data: it hangs, fails or is slow.",
               fix)};
}

}  // namespace management_nics_check

const Check kManagementNics{"management-nics",
                            Area::kNic,
                            "NICs that manage NVSwitches are not used for data",
                            management_nics_check::kExplanation,
                            52,
                            Cost::kPassive,
                            management_nics_check::find};

}  // namespace gdr::doctor
