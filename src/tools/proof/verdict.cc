#include "proof/verdict.h"

#include <algorithm>

#include "proof/verdict_lines.h"

namespace gdr::proof {
namespace {

Verdict failure(std::string seen, text::Command next) {
  Verdict verdict;
  verdict.kind = VerdictKind::kFailed;
  verdict.seen.push_back(std::move(seen));
  verdict.next = std::move(next);
  return verdict;
}

std::string name_of(const Check& check) {
  return check.title + ", " + ports_text(check) + ", " + direction_text(check);
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

// "GPU 0 with mlx5_0", "GPU 0 with mlx5_0 of node2"
std::string ends_text(const RegistrationResult& result) {
  return result.gpu + " with " + of_host(result.nic, result.host);
}

// Whether any registration of this GPU's memory with this NIC worked; `same_kind`: of the same
// kind of memory.
bool any_accepted(const Report& report, const RegistrationResult& like, bool same_kind) {
  return std::any_of(report.registrations.begin(), report.registrations.end(),
                     [&](const RegistrationResult& result) {
                       return result.ok && result.gpu == like.gpu && result.nic == like.nic &&
                              result.host == like.host &&
                              (!same_kind || result.memory == like.memory);
                     });
}

// Lists kinds of GPU memory that could not be registered, although another kind could.
void add_not_registered(const Report& report, Verdict& verdict) {
  for (const RegistrationResult& result : report.registrations) {
    if (any_accepted(report, result, true)) continue;
    add_once(verdict.not_proved, std::string(allocation_text(result.memory)) + " memory of " +
                                     ends_text(result) + ": " + result.detail);
  }
}

void add_not_proved(const Report& report, Verdict& verdict) {
  if (report.inventory.host_memory_only) {
    verdict.not_proved.emplace_back("GPU memory: skipped (--memory host)");
  }
  for (const Check& check : report.checks) {
    if (check.status != Status::kNotProved) continue;
    add_once(verdict.not_proved, check.title + ", " + ports_text(check) + ": " + check.reason);
  }
}

// One line for all directions of a mode that show the same symptom.
std::vector<std::string> seen_in(const Report& report) {
  struct Group {
    const Check* first;
    std::string second;  // the direction of the second one
    std::size_t more = 0;
  };
  std::vector<Group> groups;
  for (const Check& check : report.checks) {
    if (check.status != Status::kFailed) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.first->title == check.title && group.first->symptom == check.symptom &&
             path_text(*group.first) == path_text(check);
    });
    if (same == groups.end()) {
      groups.push_back({&check, {}});
    } else if (++same->more == 1) {
      same->second = direction_text(check);
    }
  }
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    const std::string& transfer = group.first->transfer;
    std::string name = name_of(*group.first);
    if (group.more == 1) name += ", " + group.second;
    if (group.more > 1) name += " and " + std::to_string(group.more) + " more directions";
    lines.push_back(name + (transfer.empty() ? "" : " (" + transfer + ")") + ": " +
                    group.first->reason);
  }
  return lines;
}

Verdict of_failed_checks(const Report& report) {
  Verdict verdict;
  verdict.kind = VerdictKind::kFailed;
  verdict.seen = seen_in(report);
  for (const Check& check : report.checks) {
    if (check.status != Status::kFailed) continue;
    for (const std::string& cause : check.advice.causes) add_once(verdict.causes, cause);
    if (verdict.next.empty()) verdict.next = check.advice.next;
  }
  if (verdict.next.empty()) verdict.next = text::Command("gdr prove --soft");
  add_not_proved(report, verdict);
  return verdict;
}

// Something about the kind of memory that the user asked for.
bool proved_something(const Report& report) {
  const bool host = report.inventory.host_memory_only;
  return std::any_of(report.checks.begin(), report.checks.end(), [&](const Check& check) {
    return check.status == Status::kProved &&
           (host || is_device(check.direction.from) || is_device(check.direction.to));
  });
}

bool refused_somewhere(const Report& report) {
  return std::any_of(
      report.registrations.begin(), report.registrations.end(),
      [&](const RegistrationResult& result) { return !any_accepted(report, result, false); });
}

void add_parts_of(const InventoryReport& inventory, const std::string& host, bool by_stand_ins,
                  std::vector<std::string>& parts) {
  if (inventory.soft_nic == by_stand_ins) parts.push_back(of_host("RDMA NIC", host));
  if (!inventory.host_memory_only && inventory.soft_gpu == by_stand_ins) {
    parts.push_back(of_host("GPU", host));
  }
}

std::vector<std::string> parts_played(const Report& report, bool by_stand_ins) {
  std::vector<std::string> parts;
  const bool two_hosts = report.other.has_value();
  add_parts_of(report.inventory, two_hosts ? report.facts.host : "", by_stand_ins, parts);
  if (two_hosts)
    add_parts_of(report.other->inventory, report.other->facts.host, by_stand_ins, parts);
  return parts;
}

void add_parts(const Report& report, Verdict& verdict) {
  verdict.replaced = parts_played(report, true);
  verdict.real = parts_played(report, false);
}

const InventoryReport& inventory_at(const Report& report, const std::string& host) {
  const bool other = report.other && host == report.other->facts.host;
  return other ? report.other->inventory : report.inventory;
}

// Every GPU whose memory no registration took is a stand-in beside a real NIC.
bool is_for_want_of_a_gpu(const Report& report) {
  return std::ranges::all_of(report.registrations, [&](const RegistrationResult& result) {
    const InventoryReport& its = inventory_at(report, result.host);
    return any_accepted(report, result, false) || (its.soft_gpu && !its.soft_nic);
  });
}

// No way of registration worked. Each was tried, and its error is shown.
Verdict of_registrations(const Report& report) {
  Verdict verdict;
  verdict.kind = VerdictKind::kFailed;
  for (const RegistrationResult& result : report.registrations) {
    if (!any_accepted(report, result, false)) {
      add_once(verdict.seen,
               "cannot register memory of " + ends_text(result) + ": " + result.detail);
    }
  }
  verdict.causes.push_back("this GPU and NIC support neither dma-buf nor a peer-memory module");
  verdict.causes.push_back(
      "the peer-memory module does not load because it was built before or without the RDMA stack; "
      "gdr fix says what is missing");
  verdict.next = text::Command("sudo gdr fix peer-memory --apply; gdr prove");
  if (is_for_want_of_a_gpu(report)) {
    // The real NIC did not fail; a real GPU to prove it with is missing.
    verdict.kind = VerdictKind::kIncomplete;
    add_parts(report, verdict);
    verdict.causes.assign(1,
                          "a real NIC can reach the software GPU's memory only through a real "
                          "dma-buf");
    verdict.next = text::Command("gdr prove --memory host");
  }
  return verdict;
}

// "GPU 0 (0000:41:00.0, NVIDIA H200)"
std::string gpu_in_full(const InventoryReport& inventory, const std::string& address) {
  const GpuEntry* const gpu = gpu_at(inventory, address);
  if (gpu == nullptr) return "GPU (" + address + ")";
  return "GPU " + std::to_string(gpu->survey.ordinal) + " (" + address + ", " + gpu->survey.name +
         ")";
}

std::vector<std::string> gpus_that_took_part(const Report& report) {
  std::vector<std::string> lines;
  for (const Participants& pair : report.participants) {
    const bool two_hosts = !pair.to_host.empty();
    const std::string far =
        gpu_in_full(two_hosts ? report.other->inventory : report.inventory, pair.gpu);
    if (!two_hosts && pair.from_gpu == pair.gpu) {
      add_once(lines, far);
      continue;
    }
    add_once(lines, gpu_in_full(report.inventory, pair.from_gpu) + " beside " +
                        of_host(pair.from_nic, pair.from_host) + ", " + far + " beside " +
                        of_host(pair.to_nic, pair.to_host));
  }
  return lines;
}

// An interrupted run proves nothing. Failures until then have been judged before.
Verdict of_interruption(const Report& report) {
  Verdict verdict;
  verdict.kind = VerdictKind::kInterrupted;
  add_parts(report, verdict);
  const auto proved = static_cast<std::size_t>(std::ranges::count(
      report.checks, Status::kProved, [](const Check& check) { return check.status; }));
  verdict.seen.push_back(std::to_string(proved) + (proved == 1 ? " check was" : " checks were") +
                         " right until it was interrupted; the others were not tried");
  add_not_registered(report, verdict);
  add_not_proved(report, verdict);
  verdict.next = text::Command("gdr prove");
  return verdict;
}

// Kinds of memory are named where they differ in it.
std::vector<std::string> ways_taken(const Report& report) {
  std::vector<std::string> alone, with_kind;
  for (const RegistrationResult& result : report.registrations) {
    if (!result.used) continue;
    add_once(alone, way_text(result));
    add_once(with_kind, std::string(allocation_text(result.memory)) + " by " + way_text(result));
  }
  return alone.size() > 1 ? with_kind : alone;
}

std::optional<Verdict> of_hardware(const VerdictInput& input, const Report& report) {
  const bool soft_nic = report.inventory.soft_nic;
  const bool soft_gpu = report.inventory.soft_gpu;
  if (input.soft_requested) return std::nullopt;
  if ((soft_nic && input.machine_has_nic) || (soft_gpu && input.machine_has_gpu)) {
    return failure(std::string("this machine has a real ") +
                       (soft_nic && input.machine_has_nic ? "RDMA NIC" : "GPU") +
                       ", but a stand-in was used instead",
                   text::Command("gdr prove --soft"));
  }
  return std::nullopt;
}

Verdict judge_report(const VerdictInput& input, const Report& report) {
  if (input.obstacle) {
    Verdict verdict;
    verdict.seen = input.obstacle->seen;
    verdict.causes = input.obstacle->causes;
    verdict.next = input.obstacle->next;
    add_not_proved(report, verdict);
    return verdict;
  }
  if (std::any_of(report.checks.begin(), report.checks.end(),
                  [](const Check& check) { return check.status == Status::kFailed; })) {
    return of_failed_checks(report);
  }
  if (refused_somewhere(report)) return of_registrations(report);
  if (std::optional<Verdict> verdict = of_hardware(input, report)) return *verdict;
  if (report.interrupted) return of_interruption(report);
  if (!proved_something(report)) {
    const bool host = report.inventory.host_memory_only;
    Verdict verdict =
        failure(std::string("no transfer proved ") + (host ? "host" : "GPU") + " memory",
                text::Command("gdr prove --soft"));
    add_not_proved(report, verdict);
    return verdict;
  }
  Verdict verdict;
  add_parts(report, verdict);
  verdict.kind = verdict.replaced.empty() ? VerdictKind::kProved : VerdictKind::kSimulated;
  if (!verdict.replaced.empty() && input.replaced) {
    verdict.kind = VerdictKind::kIncomplete;
    verdict.seen = input.replaced->seen;
    verdict.causes = input.replaced->causes;
    verdict.next = input.replaced->next;
  } else if (!verdict.replaced.empty() && !verdict.real.empty() && report.other) {
    verdict.kind = VerdictKind::kIncomplete;
    verdict.seen = {"one of the two hosts took part with stand-ins; start both without --soft"};
    verdict.next = text::Command("gdr prove");
  }
  add_not_registered(report, verdict);
  add_not_proved(report, verdict);
  verdict.partial = !verdict.not_proved.empty();
  return verdict;
}

// "INCOMPLETE: the RDMA NIC was simulated, the GPU is real"
std::string incomplete(const Verdict& verdict) {
  const auto list = [](std::vector<std::string> parts) {
    for (std::string& part : parts) part.insert(0, "the ");
    return listed(parts);
  };
  return "INCOMPLETE: " + list(verdict.replaced) +
         (verdict.replaced.size() > 1 ? " were simulated" : " was simulated") +
         (verdict.real.empty()
              ? ", on a machine that has hardware"
              : ", " + list(verdict.real) + (verdict.real.size() > 1 ? " are real" : " is real"));
}

}  // namespace

Verdict decide(const VerdictInput& input, const Report& report) {
  Verdict verdict = judge_report(input, report);
  // Without room anything fails in any way, so that is looked at first; and stand-ins have nothing
  // that their other causes could be about.
  if (verdict.kind == VerdictKind::kFailed && !input.address_space_shortage.empty()) {
    if (parts_played(report, false).empty()) verdict.causes.clear();
    verdict.causes.insert(verdict.causes.begin(), input.address_space_shortage);
    if (input.may_lift_shortage) verdict.next = text::Command("ulimit -v unlimited");
  }
  verdict.on = gpus_that_took_part(report);
  verdict.ways = ways_taken(report);
  return verdict;
}

std::string modules_text(const RegistrationResult& result) {
  std::string text;
  for (const host::LoadedModule& module : result.modules) {
    text += (text.empty() ? "" : " or ") + module.text();
  }
  return text;
}

std::string way_text(const RegistrationResult& result) {
  if (result.registration == Registration::kDmaBuf) return "dma-buf";
  const std::string modules = modules_text(result);
  return modules.empty() ? "peer memory" : "peer memory (" + modules + ")";
}

std::string headline(const Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::kProved:
      return verdict.partial ? "PROVED IN PART" : "PROVED";
    case VerdictKind::kSimulated:
      return std::string("SIMULATION PASSED") + (verdict.partial ? " IN PART" : "") +
             ": no real GPU or NIC was tested";
    case VerdictKind::kIncomplete:
      return incomplete(verdict);
    case VerdictKind::kInterrupted:
      return "INTERRUPTED: nothing failed until then, and nothing is proved";
    case VerdictKind::kFailed:
      break;
  }
  return "FAILED";
}

}  // namespace gdr::proof
