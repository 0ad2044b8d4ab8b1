// gdr fix locked-memory: registered memory is locked memory, and its limit is 8 MiB in most places.
// A limit belongs to a process and is handed down, so that only what starts later has a new one:
// nothing here is for now, all of it is files.
#include <algorithm>
#include <array>
#include <cctype>

#include "fix/changes/text_file.h"
#include "fix/topics/topics.h"
#include "text/format.h"

namespace gdr::fix {
namespace {

constexpr const char* kMostProcesses = "4194304";  // what the kernel counts to

std::string process_of(const std::string& service) {
  if (service == "docker") return "dockerd";
  return service == "ssh" ? "sshd" : service;
}

bool has_unit(const host::Files& files, const std::string& service) {
  constexpr std::array kFolders = {"etc/systemd/system/", "usr/lib/systemd/system/",
                                   "lib/systemd/system/"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&](const char* folder) {
    return files.exists(folder + service + ".service");
  });
}

// "Max locked memory         8388608              8388608              bytes"
bool is_limited(const std::string& limits) {
  const std::size_t label = limits.find("Max locked memory");
  if (label == std::string::npos) return false;
  const std::size_t number = limits.find_first_not_of(' ', label + 17);
  return number != std::string::npos && isdigit(static_cast<unsigned char>(limits[number])) != 0;
}

// Names of the processes that run with a limit.
std::vector<std::string> limited_processes(const host::Files& files) {
  std::vector<std::string> found;
  for (const std::string& pid : files.entries("proc")) {
    if (pid.size() > std::string_view(kMostProcesses).size() ||
        pid.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    const std::string name = files.line("proc/" + pid + "/comm");
    const auto& services = memory_services();
    const bool wanted = std::any_of(services.begin(), services.end(), [&](const std::string& one) {
      return process_of(one) == name;
    });
    if (wanted && is_limited(files.text("proc/" + pid + "/limits"))) found.push_back(name);
  }
  return found;
}

// A capture has no unit files; one of each process is then taken to be there.
bool may_have_unit(const host::Files& files, const std::string& service) {
  constexpr std::array kFolders = {"etc/systemd/system", "usr/lib/systemd/system",
                                   "lib/systemd/system"};
  const bool shown = std::any_of(kFolders.begin(), kFolders.end(),
                                 [&](const char* folder) { return files.exists(folder); });
  if (shown || files.is_live()) return has_unit(files, service);
  return service != "ssh";
}

std::vector<std::string> limited_services(const host::Files& files) {
  const std::vector<std::string> processes = limited_processes(files);
  std::vector<std::string> found;
  for (const std::string& service : memory_services()) {
    const std::string process = process_of(service);
    if (std::find(processes.begin(), processes.end(), process) == processes.end()) continue;
    // Debian's ssh.service is sshd.service too.
    if (service == "sshd" && has_unit(files, "ssh")) continue;
    if (may_have_unit(files, service)) found.push_back(service);
  }
  return found;
}

std::string names_of(const std::vector<std::string>& services) {
  std::string names;
  for (const std::string& service : services) names += (names.empty() ? "" : ", ") + service;
  return names;
}

}  // namespace

void plan_locked_memory(const Situation& situation, Proposal& proposal) {
  const bool shell = situation.inventory.locked_memory_limit.has_value();
  const std::vector<std::string> services = limited_services(situation.machine.files);
  if (!shell && services.empty()) {
    proposal.nothing = "no limit, neither here nor in services that start jobs or containers";
    return;
  }
  if (shell)
    proposal.say_to_type(text::Command("sudo prlimit --memlock=unlimited --pid $$"),
                         "for this shell alone");
  if (!services.empty()) {
    proposal.notes.emplace_back("For a container: docker run --ulimit memlock=-1.");
  }
  if (!situation.wishes.persist) {
    proposal.notes.push_back(
        "Child processes inherit the limit, so a permanent change needs files: add --persist." +
        (services.empty() ? std::string() : " Services with a limit: " + names_of(services) + "."));
    return;
  }
  if (shell) {
    proposal.propose(
        written_file(situation.machine, kLimitsFile,
                     file_text({"* soft memlock unlimited", "* hard memlock unlimited",
                                "root soft memlock unlimited", "root hard memlock unlimited"})));
  }
  for (const std::string& service : services) {
    proposal.propose(written_file(situation.machine, drop_in_file(service),
                                  file_text({"[Service]", "LimitMEMLOCK=infinity"})));
    proposal.say_to_type(
        text::Command("sudo systemctl daemon-reload && sudo systemctl restart {}", service),
        "when its jobs may stop");
  }
}

}  // namespace gdr::fix
