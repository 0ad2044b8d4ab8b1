#include "doctor/checks/registration/ways.h"

#include "doctor/environment.h"
#include "host/plain_path.h"
#include "host/registration/driver_roots.h"

namespace gdr::doctor {
namespace {

constexpr const char* kOsRelease = "proc/sys/kernel/osrelease";
constexpr const char* kDriverVersion = "proc/driver/nvidia/version";

}  // namespace

bool has_symbol(const Host& host, const std::string& symbol) {
  const auto known = host.kernel_symbols.find(symbol);
  if (known != host.kernel_symbols.end()) return known->second;
  const bool found = host::has_kernel_symbol(host.files, symbol);
  host.kernel_symbols[symbol] = found;
  return found;
}

std::string kernel_of(const Host& host) { return host.files.line(kOsRelease); }

std::string modules_file(const Host& host, const std::string& name) {
  return host::modules_file(host.files, name);
}

Action sign_the_module() {
  return to_do("sign the module, enrol the key (mokutil --import KEY.der), then reboot");
}

Action action_of(const host::Advice& advice) { return to_type(advice.command, advice.note); }

std::string Ways::peer_memory_text() const {
  if (peer_memory) return "a peer-memory module is loaded";
  if (plan.ways.peer_memory == Tri::kNo) return plan.ways.why_no_peer_memory;
  return "no peer-memory module is loaded";
}

Fix fix_by(const host::Advice& advice) {
  Action action = action_of(advice);
  if (action.command.empty()) return {{}, std::move(action)};
  action.command.then(text::Command("sudo gdr fix peer-memory --apply"));
  return {std::move(action), {}};
}

Fix fix_of(const Ways& ways) {
  if (ways.plan.loading == host::Loading::kCanLoad) {
    // The variable would not outlive sudo.
    const text::Command by_hand = ways.plan.installed.command();
    if (ways.driver_root.empty()) {
      return {by_gdr_fix("peer-memory", by_hand), by_gdr_fix_for_good("peer-memory")};
    }
    const text::Command fix("sudo gdr fix peer-memory --driver-root {} --apply", ways.driver_root);
    return {{fix, {}, by_hand}, to_type(text::Command("{} --persist", fix))};
  }
  return fix_by(ways.plan.advice);
}

Ways find_ways(const Host& host) {
  const auto given = host.environment.find(kDriverRootVariable);
  host::PlanOptions options;
  if (given != host.environment.end() && host::is_plain_path(given->second)) {
    options.driver_root = given->second;
  }
  options.has_symbol = [&host](const std::string& symbol) { return has_symbol(host, symbol); };
  Ways ways;
  ways.driver_root = options.driver_root;
  ways.plan = host::plan_peer_memory(host.files, host.inventory, options);
  const host::RegistrationFacts& facts = ways.plan.read.facts;
  ways.kernel = facts.kernel_name;
  ways.kernel_release = facts.kernel;
  ways.driver_loaded = ways.plan.read.driver_loaded;
  ways.driver_version = facts.driver_name;
  ways.driver_release = facts.driver;
  if (facts.flavour != host::Flavour::kUnknown) {
    ways.open_driver = facts.flavour == host::Flavour::kOpen ? Tri::kYes : Tri::kNo;
  }
  ways.dma_buf = ways.plan.ways.dma_buf;
  ways.why_no_dma_buf = ways.plan.ways.why_no_dma_buf;
  ways.peer_memory = ways.plan.loading == host::Loading::kLoaded;
  ways.evidence = {read_line(host.files, kOsRelease), read_line(host.files, kDriverVersion)};
  for (const std::string& path : host.inventory.peer_memory) {
    ways.evidence.push_back({path, "there"});
  }
  for (const auto& [file, value] : ways.plan.read.sources) ways.evidence.push_back({file, value});
  return ways;
}

}  // namespace gdr::doctor
