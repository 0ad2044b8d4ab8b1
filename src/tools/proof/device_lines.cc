#include "proof/device_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/format.h"

namespace gdr::proof {
namespace {

std::string speed(std::uint32_t megabits) {
  if (megabits == 0) return "";
  if (megabits % 1000 == 0) return fmt::format("{} Gb/s", megabits / 1000);
  return fmt::format("{} Mb/s", megabits);
}

std::string_view link_layer(const NicPort& port) {
  return port.ethernet ? "Ethernet" : "InfiniBand";
}

void add_once(std::string& list, std::string_view text, std::string_view between) {
  if (list.find(text) != std::string::npos) return;
  if (!list.empty()) list += between;
  list += text;
}

// A way of registering memory, and the kinds of memory for which it worked.
struct Accepted {
  std::string ways, memory;
};

// "dma-buf and peer memory (cuMemAlloc, cuMemCreate)": ways that took the same kinds together.
std::string accepted_text(std::vector<Accepted> ways) {
  if (ways.size() == 2 && ways[0].memory == ways[1].memory) {
    ways[0].ways += " and " + ways[1].ways;
    ways.pop_back();
  }
  std::string text;
  for (const Accepted& one : ways) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", one.ways, one.memory);
  }
  return text;
}

}  // namespace

std::string gpu_line(const GpuEntry& gpu) {
  return text::join({gpu.survey.pci_address, gpu.survey.name, text::size_text(gpu.survey.memory),
                     gpu.hardware && gpu.hardware->numa_node >= 0
                         ? fmt::format("NUMA {}", gpu.hardware->numa_node)
                         : "",
                     gpu.survey.dma_buf ? "exports dma-buf" : "no dma-buf", gpu.survey.uuid});
}

std::string nic_line(const NicEntry& nic, const NicPort& port) {
  const host::Port* known = find_known_port(nic, port.number);
  const std::string mac = known != nullptr && !known->mac.empty() ? known->mac : port.mac;
  return text::join({nic.hardware ? nic.hardware->pci_address : "",
                     known != nullptr ? known->netdev : "", mac.empty() ? "" : "MAC " + mac,
                     port.gid.empty() ? "" : "GID " + port.gid, std::string(link_layer(port)),
                     speed(port.speed), port.active ? "active" : "down", port.problem});
}

std::string brief_gpu_line(const GpuEntry& gpu) {
  return text::join({gpu.survey.pci_address, gpu.survey.name, text::size_text(gpu.survey.memory)});
}

std::string brief_nic_line(const NicEntry& nic, const NicPort& port) {
  const host::Port* known = find_known_port(nic, port.number);
  const std::string firmware = nic.hardware ? nic.hardware->firmware : "";
  return text::join(
      {nic.hardware ? nic.hardware->pci_address : "", known != nullptr ? known->netdev : "",
       fmt::format("{} {}", speed(port.speed), link_layer(port)), port.active ? "active" : "down",
       firmware.empty() ? "" : "firmware " + firmware});
}

std::string_view registration_text(Registration registration) {
  return registration == Registration::kDmaBuf ? "dma-buf" : "peer memory";
}

std::vector<std::string> accepted_lines(const std::vector<RegistrationResult>& results) {
  std::vector<std::pair<std::string, std::vector<Accepted>>> by_ends;
  for (const RegistrationResult& result : results) {
    if (!result.ok) continue;
    const std::string ends = result.gpu + " with " + of_host(result.nic, result.host);
    auto line = std::ranges::find(by_ends, ends, [](const auto& one) { return one.first; });
    if (line == by_ends.end()) line = by_ends.insert(line, {ends, {}});
    const std::string_view way = registration_text(result.registration);
    auto known = std::ranges::find(line->second, way, &Accepted::ways);
    if (known == line->second.end()) {
      known = line->second.insert(known, {std::string(way), {}});
    }
    add_once(known->memory, allocation_text(result.memory), ", ");
  }
  std::vector<std::string> texts;
  for (auto& [ends, ways] : by_ends)
    texts.push_back(ends + " by " + accepted_text(std::move(ways)));
  return texts;
}

std::vector<RefusedLine> refused_lines(const std::vector<RegistrationResult>& results) {
  std::vector<RefusedLine> lines;
  for (const RegistrationResult& result : results) {
    if (result.ok) continue;
    auto line = std::ranges::find_if(lines, [&](const RefusedLine& other) {
      return other.registration == result.registration && other.detail == result.detail;
    });
    if (line == lines.end()) line = lines.insert(line, {result.registration, {}, result.detail});
    add_once(line->memory, allocation_text(result.memory), ", ");
  }
  return lines;
}

}  // namespace gdr::proof
