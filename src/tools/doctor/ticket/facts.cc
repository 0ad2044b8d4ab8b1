#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/environment.h"
#include "doctor/capture/harmless.h"
#include "doctor/container.h"
#include "doctor/text_report.h"
#include "doctor/ticket/ticket.h"
#include "text/format.h"

namespace gdr::doctor {
namespace {

// "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\""
std::string system_of(const host::Files& files) {
  for (const char* place : {"etc/os-release", "usr/lib/os-release"}) {
    for (const std::string& line : files.lines_with(place, "PRETTY_NAME=")) {
      std::string name = line.substr(line.find('=') + 1);
      std::erase(name, '"');
      if (!name.empty()) return name;
    }
  }
  return {};
}

std::string gpu_driver_of(const host::Inventory& inventory) {
  if (inventory.gpu_driver_version.empty()) return {};
  return "nvidia " + inventory.gpu_driver_version +
         (inventory.gpu_driver_open ? ", open kernel modules" : ", proprietary kernel modules");
}

// Drivers that are built outside of the kernel say their version, the kernel's own do not.
std::string nic_driver_of(const host::Files& files, const std::string& driver) {
  if (driver.empty()) return {};
  const std::string version = files.line("sys/module/" + driver + "/version");
  if (version.empty()) return driver;
  return driver + " " + version;
}

// "8 x NVIDIA H200, 2 x …": alike ones counted, in the order in which they came.
std::string counted(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, unsigned>> counts;
  for (const std::string& name : names) {
    const auto known = std::ranges::find(counts, name, &std::pair<std::string, unsigned>::first);
    if (known != counts.end()) {
      ++known->second;
    } else {
      counts.emplace_back(name, 1);
    }
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : "; ") + fmt::format("{} x {}", count, name);
  }
  return text;
}

std::string gpus_of(const host::Inventory& inventory) {
  std::vector<std::string> names;
  for (const host::Gpu& gpu : inventory.gpus) names.push_back(gpu.model);
  return counted(names);
}

std::string nics_of(const Host& host) {
  std::vector<std::string> names;
  for (const host::Nic& nic : host.inventory.nics) {
    std::string name = nic.pci ? nic.pci->product.name : "software NIC";
    if (name.empty() && nic.pci) name = nic.pci->name;
    if (name.empty()) name = "NIC";
    if (!nic.firmware.empty()) name += ", firmware " + nic.firmware;
    const std::string driver = nic_driver_of(host.files, nic.driver);
    names.push_back(driver.empty() ? name : name + ", driver " + driver);
  }
  return counted(names);
}

std::string variables_of(const Host& host) {
  const std::string variables = harmless_variables(host.environment);
  std::string text;
  for (const std::string_view entry : split(variables, '\0')) {
    if (!entry.empty()) text += (text.empty() ? "" : " ") + std::string(entry);
  }
  return text;
}

std::string parameters_of(const host::Files& files) {
  const std::string line = files.line("proc/cmdline");
  std::string text = line.empty() ? "" : harmless_command_line(line);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string peer_memory_of(const host::Inventory& inventory) {
  std::string text;
  for (const std::string& place : inventory.peer_memory) {
    text += (text.empty() ? "" : ", ") + place;
  }
  return text;
}

}  // namespace

std::vector<TicketFact> facts_of(const Host& host) {
  std::vector<TicketFact> facts;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.push_back({name, value});
  };
  const host::Inventory& inventory = host.inventory;
  std::string machine = inventory.product;
  if (inventory.virtual_machine)
    machine += machine.empty() ? "virtual machine" : ", virtual machine";
  if (look_at_container(host).in_container)
    machine += machine.empty() ? "container" : ", container";
  add("machine", machine);
  add("system", system_of(host.files));
  add("kernel", host.files.line("proc/sys/kernel/osrelease"));
  add("kernel parameters", parameters_of(host.files));
  add("GPUs", gpus_of(inventory));
  add("GPU driver", gpu_driver_of(inventory));
  add("peer memory", peer_memory_of(inventory));
  add("NICs", nics_of(host));
  add("variables", variables_of(host));
  return facts;
}

std::string verdict_of(const Report& report) {
  const Counts counts = count(report);
  const char* word = counts.fail > 0      ? "FAILED"
                     : counts.warn > 0    ? "WARNINGS"
                     : counts.unknown > 0 ? "NO PROBLEM FOUND"
                                          : "ALL WELL";
  return std::string(word) + ": " + summary(report);
}

std::vector<TicketStep> steps_of(const Finding& finding) {
  std::vector<TicketStep> steps;
  const auto add = [&steps](const char* when, const Action& action) {
    if (action.empty()) return;
    steps.push_back({when, action.note, action.command});
    if (!action.by_hand.empty()) steps.push_back({"or by hand", {}, action.by_hand});
  };
  add(finding.outcome == Outcome::kUnknown ? "to find out" : "now", finding.fix.now);
  add("for good", finding.fix.for_good);
  return steps;
}

}  // namespace gdr::doctor
