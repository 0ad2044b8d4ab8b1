// gdr fix max-read-request: NICs may ask for 4096 bytes at once, so that reading a GPU's memory
// takes fewer requests.
#include "fix/changes/max_read_request.h"

#include <algorithm>
#include <set>

#include "base/environment.h"
#include "fix/changes/text_file.h"
#include "fix/refusals.h"
#include "fix/topics/topics.h"

namespace gdr::fix {
namespace {

// Larger requests would break devices for which the kernel chose smaller ones.
std::string kept_small(const Situation& situation, const host::PciFunction& nic) {
  if (situation.machine.files.line("proc/cmdline").find("pcie_bus_perf") != std::string::npos) {
    return "the kernel runs with pci=pcie_bus_perf, which needs small read requests";
  }
  constexpr std::uint16_t kLoongson = 0x0014, kTexasInstruments = 0x104c;
  for (const host::PciFunction* bridge : situation.inventory.pci.above(nic)) {
    if (bridge->vendor == kLoongson || bridge->vendor == kTexasInstruments) {
      return "the root port " + bridge->address + " does not accept larger read requests";
    }
  }
  return {};
}

// No boot parameter sets it, so udev does, for NICs that were set in this boot or are set now.
void persist(const Situation& situation, Proposal& proposal) {
  const Machine& machine = situation.machine;
  const Result<Value> file = read_own_file(machine, kUdevFile);
  if (!file) {
    proposal.refusals.push_back(file.error().message);
    return;
  }
  std::set<std::string> numbers;
  const auto add = [&](const Record& record) {
    if (record.kind == kMaxReadRequest && change_of(record)) numbers.insert(record.identity);
  };
  for (const Entry& entry : situation.journal.entries) {
    if (entry.state == State::kDone && entry.record.boot == machine.boot) add(entry.record);
  }
  for (const Planned& planned : proposal.changes) {
    if (planned.refusal.empty()) add(planned.change->record());
  }
  if (numbers.empty()) return;
  std::string setpci;
  for (const char* path : {"usr/sbin/setpci", "usr/bin/setpci"}) {
    if (machine.files.exists(path)) setpci = std::string("/") + path;
  }
  if (setpci.empty()) {
    proposal.refusals.emplace_back(
        "setpci, which sets it at boot, is not installed; install the package pciutils");
    return;
  }
  std::vector<std::string> lines;
  for (std::string_view line : split(file->value_or(""), '\n')) {
    if (!line.empty() && line != kMark) lines.emplace_back(line);
  }
  for (const std::string& one : numbers) {
    const std::string rule = read_request_rule(one, setpci);
    if (std::find(lines.begin(), lines.end(), rule) == lines.end()) lines.push_back(rule);
  }
  proposal.propose(written_file(machine, kUdevFile, file_text(lines)));
}

}  // namespace

void plan_max_read_request(const Situation& situation, Proposal& proposal) {
  std::set<std::string> seen;
  for (const host::Nic& nic : situation.inventory.nics) {
    // A virtual function's field means nothing: its physical function's counts.
    if (!nic.pci || nic.pci->is_virtual_function || !seen.insert(nic.pci->address).second) continue;
    const Result<ReadRequestState> state =
        read_max_read_request(situation.machine, nic.pci->address);
    if (!state) {
      proposal.refusals.push_back(state.error().message);
      continue;
    }
    if (state->bytes >= kBestReadRequest) continue;
    std::string refusal = refused_in_guest(situation);
    if (refusal.empty()) refusal = refused_by_lockdown(situation.machine);
    if (refusal.empty()) refusal = kept_small(situation, *nic.pci);
    proposal.propose(with_best_read_request(*state), refusal);
  }
  if (situation.wishes.persist) persist(situation, proposal);
  if (proposal.changes.empty() && proposal.refusals.empty()) {
    proposal.nothing = seen.empty() ? "no RDMA NIC with a PCI function of its own"
                                    : "every NIC already requests 4096 bytes";
  }
}

}  // namespace gdr::fix
