#include "peermem/install.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "base/printable.h"
#include "fix/changes/persistence.h"
#include "fix/changes/stored_module.h"
#include "fix/changes/text_file.h"
#include "peermem/elf.h"
#include "peermem/headers.h"
#include "peermem/signing.h"

namespace gdr::peermem {
namespace {

using host::Tri;

constexpr const char* kOurName = "nvidia_peermem";  // what NCCL looks for in /sys/module

std::string modules_folder(const std::string& kernel) { return "lib/modules/" + kernel; }

// Before anything is written: half of an installation helps nobody.
Result<void> check_folder(const host::Files& files, const std::string& kernel) {
  const std::string folder = modules_folder(kernel);
  if (!files.exists(folder)) {
    return Error{ENOENT, fmt::format("/{} is not there: kernel {} is not installed here; give "
                                     "--kernel, or build the module for a kernel that is",
                                     folder, kernel)};
  }
  if (!files.is_live() || access(("/" + folder).c_str(), W_OK) == 0) return {};
  return Error{errno, fmt::format("/{} cannot be written ({}); remount it writable, or load the "
                                  "module without installing it: sudo insmod FILE",
                                  folder, std::strerror(errno))};
}

Result<void> check_fit(const Survey& survey, const ModuleFile& module) {
  if (survey.has_interface == Tri::kNo) {
    return Error{ENOTSUP, fmt::format("the RDMA stack of kernel {} has no {}, so no peer-memory "
                                      "module can be loaded; use dma-buf",
                                      survey.kernel, kClientSymbol)};
  }
  if (survey.driver() == nullptr) {
    const std::string why = survey.drivers.empty()
                                ? "no nvidia.ko for kernel " + survey.kernel + " is here"
                                : survey.drivers.front().problem;
    return Error{ENOENT, why + ", so it cannot be verified; name the driver with --driver-module"};
  }
  if (survey.rdma.source.empty()) {
    return Error{ENOENT,
                 "the RDMA stack is not here, so it cannot be verified; name it with --rdma"};
  }
  const std::vector<Refusal> found = refusals(module, survey.sides());
  if (found.empty()) return {};
  return Error{EINVAL, fmt::format("the kernel would refuse it: {}; build it again: gdr peermem "
                                   "build",
                                   found.front().text)};
}

// Lines of modprobe's configuration that keep "modprobe nvidia-peermem" from this module.
std::string modprobe_line(const host::Files& files) {
  constexpr std::array kFolders = {"etc/modprobe.d/", "run/modprobe.d/", "usr/lib/modprobe.d/",
                                   "lib/modprobe.d/"};
  for (const char* folder : kFolders) {
    for (const std::string& name : files.entries(folder)) {
      for (const std::string& line : files.lines_with(folder + name, "peermem")) {
        for (const char* begin : {"install nvidia-peermem ", "install nvidia_peermem ",
                                  "blacklist nvidia-peermem", "blacklist nvidia_peermem"}) {
          if (line.starts_with(begin)) return "/" + std::string(folder) + name + ": " + line;
        }
      }
    }
  }
  return {};
}

bool has_systemd(const host::Files& files) {
  return files.exists("usr/bin/systemctl") || files.exists("bin/systemctl");
}

void propose_service(const fix::Machine& machine, fix::Proposal& proposal) {
  if (!has_systemd(machine.files)) {
    proposal.notes.emplace_back(
        "There is no systemd here; load the module after openibd yourself.");
    return;
  }
  proposal.propose(
      fix::written_file(machine, fix::kPeermemUnitFile, fix::file_text(fix::peermem_unit())));
  const bool enabled = machine.run && fix::service_enabled(machine, fix::kPeermemService) &&
                       *fix::service_enabled(machine, fix::kPeermemService);
  if (!enabled) proposal.propose(fix::enabled_peermem_service());
}

void say_how_to_load(const fix::Machine& machine, const Survey& survey, fix::Proposal& proposal) {
  const std::string line = modprobe_line(machine.files);
  text::Command load("sudo modprobe nvidia-peermem");
  if (!line.empty()) {
    proposal.notes.push_back(printable(line) +
                             ": this keeps modprobe from the module; the service passes it by.");
    load = text::Command("sudo modprobe --ignore-install nvidia-peermem");
  }
  if (!survey.runs) {
    proposal.notes.push_back("It is loaded when kernel " + survey.kernel + " boots.");
    return;
  }
  if (!survey.plan.loaded.empty()) {
    load = text::Command("sudo rmmod {} && {}", survey.plan.loaded, load);
  }
  proposal.say_to_type(load, survey.plan.loaded.empty()
                                 ? "loads it now"
                                 : "replaces the one that is loaded, when no program uses it");
  if (survey.drivers.front().place.origin.starts_with("the driver's root")) {
    proposal.notes.emplace_back(
        "The GPU driver is not this host's own and may be loaded after the boot's services; then "
        "type this again.");
  }
}

}  // namespace

Result<Installable> read_module_to_install(const std::string& file) {
  const std::string path = std::filesystem::absolute(file).string().substr(1);
  Result<std::string> bytes = read_module_bytes(host::Files("/"), path);
  if (!bytes && bytes.error().code == ENOENT) {
    return Error{ENOENT, bytes.error().message + "; build it first: gdr peermem build"};
  }
  if (!bytes) return bytes.error();
  Result<ModuleFile> module = parse_module(*bytes);
  if (!module) return Error{EINVAL, "/" + printable(path) + " " + module.error().message};
  if (module->name != kOurName) {
    return Error{EINVAL,
                 fmt::format("{} is the module {}, not {}; give what gdr peermem build made", file,
                             printable(module->name), kOurName)};
  }
  if (module->machine != machine_here()) {
    return Error{EINVAL,
                 fmt::format("{} is for {}, and this machine is {}; build it here: gdr "
                             "peermem build",
                             file, machine_name(module->machine), machine_name(machine_here()))};
  }
  return Installable{*std::move(module), *std::move(bytes)};
}

Result<Prepared> prepare_install(const host::Files& files, const Survey& survey,
                                 const InstallOrder& order, const Workshop& workshop) {
  Result<Installable> read = read_module_to_install(order.file);
  if (!read) return read.error();
  const ModuleFile& module = read->module;
  if (module.kernel() != survey.kernel) {
    return Error{EINVAL,
                 fmt::format("{} was built for kernel {}, not {}; build it for that one: {}",
                             order.file, module.kernel(), survey.kernel,
                             text::Command("gdr peermem build --kernel {}", survey.kernel).text())};
  }
  if (Result<void> there = check_folder(files, survey.kernel); !there) return there.error();
  if (Result<void> fits = check_fit(survey, module); !fits) return fits.error();
  const Result<std::optional<SigningKey>> key = find_key(files, order.key, order.certificate);
  if (!key) return key.error();
  // A captured machine's firmware cannot be asked.
  const fix::Runner run = files.is_live() ? workshop.run : fix::Runner();
  const std::string reason = why_key_will_not_do(read_enforcement(files), *key, run);
  if (!reason.empty() && !(module.is_signed && !*key)) return Error{EPERM, reason};

  Prepared prepared{survey.kernel, std::move(read->bytes), {}};
  if (!*key || module.is_signed) return prepared;
  prepared.notes.push_back(
      fmt::format("The module is signed with the key {} ({}).", (*key)->whose, (*key)->key));
  if (order.dry_run) return prepared;
  const Result<std::string> headers = find_headers(files, survey, order.headers);
  Result<std::string> made =
      signed_bytes(prepared.bytes, **key, headers ? *headers : "", workshop.scratch, workshop.run);
  if (!made) return made.error();
  prepared.bytes = *std::move(made);
  return prepared;
}

fix::Proposal plan_install(const fix::Machine& machine, const Survey& survey,
                           const Prepared& prepared) {
  fix::Proposal proposal;
  proposal.topic = "peermem";
  proposal.title = "kernel module that lets NICs reach GPU memory, for kernel " + survey.kernel;
  // The override first: depmod runs with the module.
  proposal.propose(
      fix::written_file(machine, fix::kPeermemDepmodFile, fix::file_text({fix::kPeermemOverride})));
  proposal.propose(
      fix::installed_module(machine, prepared.kernel, fix::stored_name(prepared.bytes)));
  proposal.propose(fix::written_file(machine, fix::kPeermemModprobeFile,
                                     fix::file_text({fix::kPeermemSoftdep})));
  proposal.propose(
      fix::written_file(machine, fix::kPeermemModulesFile, fix::file_text({"nvidia-peermem"})));
  propose_service(machine, proposal);
  proposal.notes.insert(proposal.notes.end(), prepared.notes.begin(), prepared.notes.end());
  if (proposal.changes.empty() && proposal.refusals.empty()) {
    proposal.nothing = "this module is installed, also for each boot";
    return proposal;
  }
  say_how_to_load(machine, survey, proposal);
  return proposal;
}

}  // namespace gdr::peermem
