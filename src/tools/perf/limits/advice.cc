// Why a figure may be low. Each reason is a fact, and is given only where the figure is low beside
// the limit that the fact bears on; the most telling first.
#include <algorithm>

#include "perf/limits/candidate.h"
#include "perf/limits/limits.h"
#include "text/command.h"

namespace gdr::perf {
namespace {

using Kind = Candidate::Kind;

// RoCE's largest path MTU; smaller ones multiply headers and packets.
constexpr std::uint32_t kBestMtu = 4096;
// A NIC that asks for less at once has to keep more requests under way than many can.
constexpr std::uint32_t kBestReadRequest = 4096;

struct Advice {
  std::string text, check;
};

// "sudo setpci -s 0000:41:00.0 CAP_EXP+8.w=VALUE"; nothing if the address is unknown.
std::optional<std::string> set_device_control(const Pcie& pcie, const std::string& value) {
  if (pcie.path.empty()) return std::nullopt;
  return text::Command("sudo setpci -s {} CAP_EXP+8.w={}", pcie.path.back(), value).text();
}

std::optional<Advice> narrow_link(const Candidate& candidate) {
  if (!candidate.link) return std::nullopt;
  const PcieLink& link = *candidate.link;
  // Power management lowers the speed of an idle GPU's link; that is no fault.
  const bool slow = candidate.kind == Kind::kNicPcie && link.most_speed > link.speed;
  if (!slow && link.most_width <= link.width) return std::nullopt;
  const double speed = candidate.kind == Kind::kNicPcie ? link.speed : link.most_speed;
  return Advice{"the PCIe link between " + link.above + " and " + link.below + " runs at " +
                    pcie_text(speed, link.width) + ", but both ends support " +
                    pcie_text(link.most_speed, link.most_width) +
                    ": reseat the card, or change the slot's settings in the BIOS",
                "pcie-link"};
}

std::optional<Advice> far_gpu(const RowFacts& row, const Candidate& candidate,
                              const NicFacts& nic) {
  const Facts& side = *candidate.side;
  // A hypervisor's PCI tree says nothing about the real path.
  if (!candidate.gpu || nic.software || side.virtual_machine) return std::nullopt;
  if (!row.place(side).is_direct()) return std::nullopt;
  const auto path = path_of(nic, *candidate.gpu);
  if (!path || *path < host::PciPath::kPhb) return std::nullopt;
  return Advice{"GPU " + std::to_string(candidate.gpu->ordinal) + " and " + nic.name +
                    " reach each other only through the CPU (" + host::name_of(*path) +
                    "): choose a NIC below the same PCIe switch (gdr topo shows it)",
                "pair-grade"};
}

// Relaxed ordering is known to matter on AMD CPUs and in virtual machines.
std::optional<Advice> strict_ordering(const RowFacts&, const Candidate& candidate,
                                      const NicFacts& nic) {
  const Facts& side = *candidate.side;
  const auto command = set_device_control(nic.pcie, "10:10");
  if (nic.pcie.relaxed_ordering != Switch::kOff || !(side.amd || side.virtual_machine) ||
      !command) {
    return std::nullopt;
  }
  return Advice{"PCIe relaxed ordering is off in " + nic.name +
                    ", so each write waits for earlier ones: " + *command,
                "relaxed-ordering"};
}

std::optional<Advice> small_reads(const RowFacts&, const Candidate& candidate,
                                  const NicFacts& nic) {
  const auto command = set_device_control(nic.pcie, "5000:7000");
  if (!candidate.is_source || nic.pcie.max_read_request == 0 ||
      nic.pcie.max_read_request >= kBestReadRequest || !command) {
    return std::nullopt;
  }
  return Advice{nic.name + " reads memory in requests of " +
                    std::to_string(nic.pcie.max_read_request) +
                    " bytes; it supports 4096: " + *command,
                "max-read-request"};
}

// Says nothing if the user asked for this MTU, or between processes of one host, which exchange no
// packets.
std::optional<Advice> small_packets(const RowFacts& row, const Candidate&, const NicFacts& nic) {
  if (row.load.path_mtu != 0 || nic.path_mtu == 0 || nic.path_mtu >= kBestMtu ||
      row.load.size <= nic.path_mtu || (nic.software && row.one_host())) {
    return std::nullopt;
  }
  const text::Command raise("sudo ip link set dev {} mtu 9000", nic.netdev);
  return Advice{"the path MTU is " + std::to_string(nic.path_mtu) + " bytes: " +
                    (nic.ethernet ? "raise the MTU on both hosts (" + raise.text() +
                                        ") and on the switches between them"
                                  : "allow 4096 in the subnet manager's partition"),
                "mtu"};
}

// With NICs on several nodes, some NIC is always remote, so only one node is judged.
std::optional<Advice> wrong_node(const RowFacts& row, const Facts& side) {
  if (side.nics.empty() || side.numa_node < 0) return std::nullopt;
  const std::int32_t node = side.nics[0].pcie.numa_node;
  const bool one_node = std::ranges::all_of(
      side.nics, [&](const NicFacts& nic) { return nic.pcie.numa_node == node; });
  if (!one_node || node < 0 || node == side.numa_node) return std::nullopt;
  const std::string number = std::to_string(node);
  return Advice{side.nics[0].name + " is on NUMA node " + number + row.on(side) +
                    ", but gdr ran on node " + std::to_string(side.numa_node) +
                    ": numactl --cpunodebind=" + number + " --membind=" + number + " gdr perf",
                "numa-node"};
}

// A polling thread occupies a CPU. On one host the server's threads, if any, count too.
std::optional<Advice> few_cores(const RowFacts& row, const Facts& side) {
  const bool both = row.one_host() && (row.load.both_ways || is_received(row.load.operation));
  const std::uint32_t wanted = std::max(1u, row.load.threads) * (both ? 2 : 1);
  if (side.cores == 0 || side.cores >= wanted) return std::nullopt;
  return Advice{std::to_string(wanted) + " threads share " + std::to_string(side.cores) +
                    (side.cores == 1 ? " CPU" : " CPUs") + row.on(side) +
                    ": allow more (taskset -c, or the container's limits)",
                ""};
}

using OfNic = std::optional<Advice> (*)(const RowFacts&, const Candidate&, const NicFacts&);

// The first advice that applies to one of the side's NICs.
std::optional<Advice> of_nics(const RowFacts& row, const Candidate& candidate,
                              std::initializer_list<OfNic> all) {
  for (const OfNic one : all) {
    for (const NicFacts& nic : candidate.side->nics) {
      if (std::optional<Advice> advice = one(row, candidate, nic)) return advice;
    }
  }
  return std::nullopt;
}

// Advice about this limit alone.
std::optional<Advice> particular(const RowFacts& row, const Candidate& candidate) {
  const bool links_count = row.load.size >= kLeastForLinks;
  std::optional<Advice> advice;
  switch (candidate.kind) {
    case Kind::kLink:
    case Kind::kCopy:
      if (links_count) advice = of_nics(row, candidate, {small_packets});
      return advice;
    case Kind::kNicPcie:
      if (links_count) advice = narrow_link(candidate);
      if (links_count && !advice) advice = of_nics(row, candidate, {strict_ordering, small_reads});
      return advice;
    case Kind::kGpuPcie:
      advice = of_nics(row, candidate, {far_gpu});
      if (links_count && !advice) advice = narrow_link(candidate);
      return advice;
    case Kind::kComparison:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<host::PciPath> path_of(const NicFacts& nic, const GpuFacts& gpu) {
  return host::path_between(nic.pcie.path, nic.pcie.numa_node, gpu.pcie.path, gpu.pcie.numa_node);
}

void add_advice(const RowFacts& row, double reached, std::vector<Candidate>& candidates) {
  // Advice about a whole side goes with the nearest limits.
  std::vector<Advice> general;
  for (const Facts* side : {&row.near, &row.far}) {
    for (const auto& advice : {wrong_node(row, *side), few_cores(row, *side)}) {
      const bool known = std::ranges::any_of(
          general, [&](const Advice& other) { return advice && other.text == advice->text; });
      if (advice && !known) general.push_back(*advice);
    }
  }
  std::vector<std::string> given;
  for (Candidate& candidate : candidates) {
    if (candidate.kind == Kind::kComparison || reached >= kLowShare * candidate.most) continue;
    std::optional<Advice> advice = particular(row, candidate);
    if (advice && std::ranges::find(given, advice->text) != given.end()) advice.reset();
    if (!advice && !general.empty()) {
      advice = general.front();
      general.erase(general.begin());
    }
    if (!advice) continue;
    given.push_back(advice->text);
    candidate.limit.advice = advice->text;
    candidate.limit.check = advice->check;
  }
}

}  // namespace gdr::perf
