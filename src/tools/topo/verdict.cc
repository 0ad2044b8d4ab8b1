#include "topo/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/format.h"
#include "topo/report.h"

namespace gdr::topo {
namespace {

using host::NcclPath;
using host::PciPath;
using Choices = std::vector<const Choice*>;

template <typename Wanted>
Choices select(const Report& report, Wanted wanted) {
  Choices found;
  for (const Choice& choice : report.choices) {
    if (wanted(choice)) found.push_back(&choice);
  }
  return found;
}

Choices of_quality(const Report& report, Quality quality) {
  return select(report,
                [&](const Choice& choice) { return choice.nic && choice.quality == quality; });
}

// "GPU4, GPU5: "; empty for all GPUs.
std::string whose(const Report& report, const Choices& choices) {
  constexpr std::size_t kMost = 4;
  if (choices.size() == report.choices.size()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(choices.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + report.devices[choices[i]->gpu].label;
  }
  if (choices.size() > kMost) text += fmt::format(" and {} more", choices.size() - kMost);
  return text + ": ";
}

std::string count_of_good(const Report& report) {
  const std::size_t good = of_quality(report, Quality::kGood).size();
  const std::size_t all = report.choices.size();
  if (good == 0) return "no GPU shares a PCIe switch with a NIC";
  if (all == 1) return "the GPU shares a PCIe switch with a NIC";
  return good == all ? fmt::format("all {} GPUs share a PCIe switch with a NIC", all)
                     : fmt::format("{} of {} GPUs share a PCIe switch with a NIC", good, all);
}

std::string count_of_sharing(const Report& report) {
  std::vector<std::size_t> gpus_of(report.devices.size());
  std::size_t most = 0;
  for (const Choice& choice : report.choices) {
    if (choice.nic) most = std::max(most, ++gpus_of[*choice.nic]);
  }
  if (most < 2) return {};
  return most == report.choices.size() ? fmt::format("; all {} GPUs share one NIC", most)
                                       : fmt::format("; up to {} GPUs share one NIC", most);
}

// The farthest that NCCL does not use by itself.
std::optional<NcclPath> path_to_allow(const Report& report) {
  std::optional<NcclPath> farthest;
  for (const Choice& choice : report.choices) {
    if (!choice.nic) continue;
    const auto path =
        nccl_path(report.inventory, report.devices[choice.gpu], report.devices[*choice.nic]);
    if (path && !host::nccl_uses_gdr(*path)) farthest = std::max(path, farthest);
  }
  return farthest;
}

void allow_for_nccl(const Report& report, Verdict& verdict) {
  const auto path = path_to_allow(report);
  if (!path) return;
  verdict.steps.push_back({"now", "NCCL does not use GPUDirect RDMA there unless you allow it",
                           text::Command("export NCCL_NET_GDR_LEVEL={}", host::name_of(*path))});
}

const Step& look_for_what_is_missing() {
  static const Step kStep{"next", "lists what is missing, and what to do",
                          text::Command("gdr doctor")};
  return kStep;
}

Verdict no_gpu(const Report& report) {
  const std::string what = report.inventory.unsupported.empty()
                               ? "no NVIDIA GPU"
                               : "no NVIDIA GPU; unsupported devices are listed below";
  return {"NO GPU", what, {}, {look_for_what_is_missing()}};
}

Verdict no_nic(const Report& report) {
  const bool managing = count_of(report, Device::Kind::kNic) > 0;
  std::string what = managing ? "all NICs are for management" : "no RDMA NIC with a PCI function";
  if (!report.inventory.unsupported.empty()) what += "; unsupported devices are listed below";
  return {"NO NIC", what, {}, {look_for_what_is_missing()}};
}

Verdict unreliable(const Report& report) {
  Verdict verdict{kUnreliable, unreliable_because(report.inventory), Quality::kUnknown, {}};
  verdict.steps = {
      {"now", "measures the paths", text::Command("gdr perf")},
      {"or", "reads the provider's topology file", text::Command("gdr topo --nccl-xml FILE")}};
  return verdict;
}

Verdict ports_down(const Report& report, const Choices& choices) {
  return {"DOWN",
          choices.size() == report.choices.size()
              ? "all ports of each GPU's best NIC are down"
              : whose(report, choices) + "all ports of the best NIC are down",
          {},
          {{"now", "connect the ports, or set them up; this shows each port's state",
            text::Command("gdr list")}}};
}

Verdict bad(const Report& report, const Choices& choices) {
  const bool other_node = std::ranges::any_of(
      choices, [](const Choice* choice) { return choice->path == PciPath::kSys; });
  Verdict verdict{
      "BAD",
      fmt::format("{}; {}the nearest is {}, where GPUDirect RDMA is often slow",
                  count_of_good(report), whose(report, choices),
                  other_node ? "on another NUMA node (SYS)" : "behind another host bridge (NODE)"),
      {},
      {}};
  allow_for_nccl(report, verdict);
  verdict.steps.push_back({"now", "measures whether direct is faster than through host memory",
                           text::Command("gdr perf")});
  verdict.steps.push_back(
      {"for good", "move each NIC to a slot below its GPU's own switch or host bridge", {}});
  return verdict;
}

Verdict not_known(const Report& report, const Choices& choices) {
  const bool merged = std::ranges::any_of(
      choices, [](const Choice* choice) { return choice->path == PciPath::kPhb; });
  return {"UNKNOWN",
          fmt::format("{}; {}{}", count_of_good(report), whose(report, choices),
                      merged ? "PHB or NODE, which NCCL's files do not tell apart"
                             : "this source does not show how near the NICs are"),
          {},
          {{"next", "run this on the host itself, or with a capture of it (gdr doctor capture)",
            text::Command("sudo gdr topo")}}};
}

Verdict likely_good(const Report& report, const Choices& choices) {
  Verdict verdict{"LIKELY GOOD",
                  fmt::format("{}; {}the nearest is below the same host bridge (PHB)",
                              count_of_good(report), whose(report, choices)),
                  {},
                  {}};
  allow_for_nccl(report, verdict);
  verdict.steps.push_back({"next", "measures whether direct is faster than through host memory",
                           text::Command("gdr perf")});
  return verdict;
}

Verdict good(const Report& report) {
  return {"GOOD",
          count_of_good(report) + ": no CPU is on the path" + count_of_sharing(report),
          {},
          {{"next", "checks drivers, limits and settings", text::Command("gdr doctor")}}};
}

// Without these NCCL would send data over NICs that manage NVSwitches.
void exclude_management(const Report& report, Verdict& verdict) {
  const std::string names = management_names(report.inventory);
  if (names.empty()) return;
  verdict.steps.insert(verdict.steps.begin(), {"now", "keeps NCCL away from the management NICs",
                                               text::Command("export NCCL_IB_HCA=^={}", names)});
}

Verdict first_of(const Report& report) {
  if (!has_reliable_grades(report.inventory)) return unreliable(report);
  if (const Choices down = select(report, [](const Choice& choice) { return choice.ports_down; });
      !down.empty()) {
    return ports_down(report, down);
  }
  if (const Choices all = of_quality(report, Quality::kBad); !all.empty()) return bad(report, all);
  if (const Choices all = of_quality(report, Quality::kUnknown); !all.empty()) {
    return not_known(report, all);
  }
  if (const Choices all = of_quality(report, Quality::kLikelyGood); !all.empty()) {
    return likely_good(report, all);
  }
  return good(report);
}

Quality worst_quality(const Report& report) {
  for (const Quality quality : {Quality::kBad, Quality::kUnknown, Quality::kLikelyGood}) {
    if (!of_quality(report, quality).empty()) return quality;
  }
  return Quality::kGood;
}

}  // namespace

Verdict judge(const Report& report) {
  if (report.devices.empty()) return {};
  if (report.choices.empty()) return no_gpu(report);
  const bool any = std::ranges::any_of(report.choices,
                                       [](const Choice& choice) { return choice.nic.has_value(); });
  if (!any) return no_nic(report);
  Verdict verdict = first_of(report);
  verdict.quality = worst_quality(report);
  exclude_management(report, verdict);
  return verdict;
}

}  // namespace gdr::topo
