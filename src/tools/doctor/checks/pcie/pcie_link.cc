// X3: does every hop run as fast and as wide as both its ends can?
#include <fmt/format.h>

#include <set>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "A PCIe link that trained below what it can carries half or less, for every transfer over it. "
    "Read are current_link_speed, current_link_width and their max_ of every hop between each GPU "
    "or NIC and its root port. A hop is judged by the lesser of its two ends: a card of "
    "generation 4 in a slot of generation 5 is as fast as it gets, although lspci calls it "
    "downgraded. GPUs slow their links down while they are idle, so a lower speed of a GPU's own "
    "link is unknown until it is read under load; a lower width is not, since idle links keep "
    "theirs. Reseat the card, exchange its riser or cable, or look at the slot's speed and "
    "bifurcation in the BIOS.";

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
                       text_of(link.speed, link.width) + "; both ends can " +
                           text_of(link.most_speed, link.most_width)}};
  const bool narrow = link.width < link.most_width, slow = link.speed < link.most_speed;
  if (!narrow && !slow) {
    finding.summary = "every link runs at what both its ends can do";
  } else if (slow && !narrow && is_gpus_own) {
    finding.outcome = Outcome::kUnknown;
    finding.summary =
        fmt::format("{:g} GT/s of {:g}, at full width: idle?", link.speed, link.most_speed);
    finding.consequence =
        "GPUs slow their links down when nothing runs; slow under load, it would be a fault.";
    finding.fix.now =
        to_type("gdr doctor --only pcie-link", "while the GPU copies, as in gdr prove or gdr perf");
  } else {
    finding.outcome = Outcome::kWarn;
    finding.summary = fmt::format("link {} runs at {} of {}", way, text_of(link.speed, link.width),
                                  text_of(link.most_speed, link.most_width));
    finding.consequence = fmt::format(
        "No transfer over it is faster than about {:.0f} % of what the slot is made for.",
        100 * (link.speed / link.most_speed) * link.width / link.most_width);
    finding.fix.for_good = to_do(
        "reseat the card or its riser; then the slot's speed and bifurcation in the BIOS, and "
        "the card's firmware");
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
      finding.summary = "speeds and widths of the links are not shown";
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
  finding.summary = "a virtual machine's links are made up: they show on its host only";
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

}  // namespace

const Check kLink{"pcie-link",  Area::kPcie, "Speed and width of every PCIe link of GPUs and NICs",
                  kExplanation, 64,          Cost::kPassive,
                  find};

}  // namespace gdr::doctor
