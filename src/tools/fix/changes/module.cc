#include "fix/changes/module.h"

#include <algorithm>
#include <array>

#include "fix/changes/kinds.h"
#include "host/plain_path.h"
#include "text/format.h"

namespace gdr::fix {
namespace {

constexpr const char* kLoaded = "loaded";

class LoadedModule : public Change {
 public:
  using Change::Change;

  std::string where() const override {
    return "kernel module " + record().target +
           (record().path.empty() ? "" : " of the driver in /" + record().path);
  }
  std::string told(const Value& value) const override { return value.value_or("not loaded"); }
  text::Command undo_command() const override {
    return text::Command("rmmod {}", sysfs_name(record().target));
  }

  Result<Value> read(const Machine& machine) const override {
    const bool there = machine.files.exists("sys/module/" + sysfs_name(record().target));
    return there ? Value(kLoaded) : Value();
  }

  Result<void> write(const Machine& machine, const Value& value) const override {
    if (!machine.run) return Error{ENOTSUP, "a captured machine cannot run programs"};
    // rmmod and not modprobe -r, which also unloads what the module needs: the driver itself.
    std::vector<std::string> command = {"rmmod", sysfs_name(record().target)};
    if (value) {
      command = {"modprobe", record().target};
      if (has_modprobe(machine)) {
        command.insert(command.begin(), {"chroot", "/" + record().path});
      } else if (!record().path.empty()) {
        command.insert(command.begin() + 1, {"-d", "/" + record().path});
      }
    }
    const Result<Ran> ran = machine.run(command);
    if (!ran) return ran.error();
    if (ran->status == 0) return {};
    return Error{EIO, command.front() + " ended with " + std::to_string(ran->status) + ": " +
                          printable(ran->output)};
  }

 private:
  // A driver's root that is a whole system has its own; one with modules alone has none.
  bool has_modprobe(const Machine& machine) const {
    if (record().path.empty()) return false;
    return std::ranges::any_of(
        std::array{"/usr/sbin/modprobe", "/sbin/modprobe", "/usr/bin/modprobe"},
        [&](const char* place) { return machine.files.exists(record().path + place); });
  }
};

}  // namespace

std::string sysfs_name(std::string module) {
  std::replace(module.begin(), module.end(), '-', '_');
  return module;
}

Record loaded_module(const std::string& module, const std::string& root) {
  Record record;
  record.kind = kModule;
  record.target = module;
  record.path = root;
  record.new_value = kLoaded;
  return record;
}

Result<ChangePtr> module_of(const Record& record) {
  if (record.target != kNvidiaPeermem && record.target != kOldPeermem &&
      record.target != kEfaPeermem) {
    return no_such_record(record, "another module");
  }
  if (!record.path.empty() && !host::is_plain_path("/" + record.path)) {
    return no_such_record(record, "no root of a driver");
  }
  if (record.old_value || record.new_value != kLoaded) {
    return no_such_record(record, "a module is only loaded");
  }
  return ChangePtr(new LoadedModule(record));
}

}  // namespace gdr::fix
