// Does every hop run as fast and wide as both ends support?
#include <fmt/format.h>

#include <set>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace pcie_link_check {

constexpr const char* kExplanation =
    "A PCIe link that trained below its maximum carries half or less of every transfer. The check "
    "reads current_link_speed, current_link_width and their maxima for every hop between each GPU "
    "or NIC and its root port. The slower end of a hop sets the standard: a generation 4 card in a "
    "generation 5 slot is as fast as possible, although lspci calls it downgraded. Idle GPUs slow "
    "their links down, so a low speed of a GPU's own link counts as unknown until it is read under "
    "load; a low width counts at once, because idle links keep their width. Reseat the card, "
    "replace its riser or cable, or check the slot's speed and bifurcation in the BIOS.";

std::string text_of(double speed, unsigned width) {
  return fmt::format("{:g} GT/s x{}", speed, width);
}

bool is_known(const host::PciLink& link) {
  return link.speed > 0 && link.most_speed > 0 && link.width > 0 && link.most_width > 0;
}

Finding judge(const host::PciLink& link, const std::string& device, bool is_gpus_own) {
  Finding finding;
  finding.subject = device;
  const std::string way = link.above + " to " + link.below;
  finding.evidence = {{"/sys/bus/pci/devices/" + link.below + "/current_link_{speed,width}",
                       text_of(link.speed, link.width) + "; both ends support " +
                           text_of(link.most_speed, link.most_width)}};
  const bool narrow = link.width < link.most_width, slow = link.speed < link.most_speed;
  if (!narrow && !slow) {
    finding.summary = "every link runs at its maximum";
  } else if (slow && !narrow && is_gpus_own) {
    finding.outcome = Outcome::kUnknown;
    finding.summary =
        fmt::format("{:g} GT/s of {:g}, at full width: idle?", link.speed, link.most_speed);
    finding.consequence = "Idle GPUs slow their links down; under load a slow link is a fault.";
    finding.fix.now =
        to_type("gdr doctor --only pcie-link", "while the GPU copies, for example during gdr perf");
  } else {
    finding.outcome = Outcome::kWarn;
    finding.summary = fmt::format("link {} runs at {} of {}", way, text_of(link.speed, link.width),
                                  text_of(link.most_speed, link.most_width));
    finding.consequence =
        fmt::format("Every transfer over it is limited to about {:.0f} % of the maximum.",
                    100 * (link.speed / link.most_speed) * link.width / link.most_width);
    finding.fix.for_good = to_do(
        "reseat the card or its riser; then check the slot's speed and bifurcation in the BIOS, "
        "and the card's firmware");
  }
  return finding;
}

class Links {
 public:
  void add(const std::optional<host::PciFunction>& function, const std::string& device,
           bool is_gpu) {
    if (!function) return;
    for (const host::PciLink& link : function->links) {
      // The functions of one card share its link.
      if (!seen_.insert({link.above, host::card_of(link.below)}).second) continue;
      if (!is_known(link)) {
        ++unknown_;
        continue;
      }
      const bool own = is_gpu && host::card_of(link.below) == host::card_of(function->address);
      gathered_.add(judge(link, device, own), link.below);
    }
  }

  Findings take() const {
    Findings findings = gathered_.take("no GPU or NIC below a PCIe port");
    if (findings.empty() && unknown_ > 0) {
      Finding finding;
      finding.outcome = Outcome::kUnknown;
      finding.summary = "cannot see speed and width of the links";
      finding.evidence = {{"/sys/bus/pci/devices/*/current_link_{speed,width}", "not known"}};
      findings.push_back(finding);
    }
    return findings;
  }

 private:
  std::set<std::pair<std::string, std::string>> seen_;
  Gathered gathered_{"links"};
  unsigned unknown_ = 0;
};

Finding made_up() {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.summary = "a virtual machine shows invented links; look at them on its host";
  finding.fix.now = to_type("gdr doctor --only pcie-link", "on the host");
  return finding;
}

Findings find(const Host& host) {
  const host::Inventory& inventory = host.inventory;
  Links links;
  for (const host::Gpu& gpu : inventory.gpus) links.add(gpu.pci, label(gpu), true);
  for (const host::Nic& nic : inventory.nics) {
    // Few lanes are enough for management, and its card can do more.
    if (nic.management.empty()) links.add(nic.pci, label(nic), false);
  }
  Findings findings = links.take();
  if (inventory.virtual_machine && !findings.empty()) return {made_up()};
  return findings;
}

}  // namespace pcie_link_check

const Check kLink{"pcie-link",
                  Area::kPcie,
                  "Speed and width of every PCIe link of GPUs and NICs",
                  pcie_link_check::kExplanation,
                  64,
                  Cost::kPassive,
                  pcie_link_check::find};

}  // namespace gdr::doctor
