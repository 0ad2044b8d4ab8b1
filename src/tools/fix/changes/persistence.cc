#include "fix/changes/persistence.h"

#include "fix/changes/kinds.h"
#include "host/pci/function.h"
#include "text/format.h"

namespace gdr::fix {
namespace {

constexpr const char* kOn = "on";
constexpr const char* kOff = "off";
constexpr const char* kEnabled = "enabled";
constexpr const char* kDisabled = "disabled";
constexpr const char* kRunning = "running";

Result<std::string> output_of(const Machine& machine, const std::vector<std::string>& command,
                              bool status_matters = true) {
  if (!machine.run) return Error{ENOTSUP, "a captured machine cannot run programs"};
  Result<Ran> ran = machine.run(command);
  if (!ran) return ran.error();
  const std::string text = printable(ran->output);
  if (ran->status != 0 && status_matters) {
    return Error{EIO, command.front() + " ended with " + std::to_string(ran->status) + ": " + text};
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

class PersistenceMode : public Change {
 public:
  using Change::Change;

  std::string where() const override { return "persistence mode of GPU " + record().target; }
  std::string told(const Value& value) const override { return value.value_or("unknown"); }
  text::Command undo_command() const override {
    return text::Command("nvidia-smi -i {} -pm 0", record().target);
  }
  Result<Value> read(const Machine& machine) const override {
    const Result<bool> on = persistence_mode(machine, record().target);
    if (!on) return on.error();
    return Value(*on ? kOn : kOff);
  }
  Result<void> write(const Machine& machine, const Value& value) const override {
    const Result<std::string> done =
        output_of(machine, {"nvidia-smi", "-i", record().target, "-pm", value == kOn ? "1" : "0"});
    return done ? Result<void>() : done.error();
  }
};

class EnabledService : public Change {
 public:
  using Change::Change;

  std::string where() const override { return "systemd service " + record().target; }
  std::string told(const Value& value) const override { return value.value_or("unknown"); }
  text::Command undo_command() const override {
    if (record().identity == kRunning) {
      return text::Command("systemctl disable {}", record().target);
    }
    return text::Command("systemctl disable --now {}", record().target);
  }
  bool outlives_boot() const override { return true; }
  Result<Value> read(const Machine& machine) const override {
    const Result<bool> enabled = service_enabled(machine, record().target);
    if (!enabled) return enabled.error();
    return Value(*enabled ? kEnabled : kDisabled);
  }
  Result<void> write(const Machine& machine, const Value& value) const override {
    const Result<std::string> done =
        output_of(machine, command(value == kEnabled ? "enable" : "disable"));
    return done ? Result<void>() : done.error();
  }

 private:
  // A daemon that somebody has started goes on running, also when this is undone.
  std::vector<std::string> command(const char* what) const {
    if (record().identity == kRunning) return {"systemctl", what, record().target};
    return {"systemctl", what, "--now", record().target};
  }
};

}  // namespace

Result<bool> persistence_mode(const Machine& machine, const std::string& gpu) {
  const Result<std::string> text = output_of(
      machine, {"nvidia-smi", "-i", gpu, "--query-gpu=persistence_mode", "--format=csv,noheader"});
  if (!text) return text.error();
  if (*text == "Enabled") return true;
  if (*text == "Disabled") return false;
  return Error{EIO, "nvidia-smi says '" + *text + "' about the persistence mode of " + gpu};
}

Record with_persistence_mode(const std::string& gpu) {
  Record record;
  record.kind = kPersistenceMode;
  record.target = gpu;
  record.old_value = kOff;
  record.new_value = kOn;
  return record;
}

Result<bool> service_enabled(const Machine& machine, const std::string& service) {
  // Its exit status is 1 where the service is disabled.
  const Result<std::string> text = output_of(machine, {"systemctl", "is-enabled", service}, false);
  if (!text) return text.error();
  if (*text == kEnabled) return true;
  if (*text == kDisabled) return false;
  return Error{ENOENT, "systemd says '" + *text + "' of " + service};
}

Result<Record> enabled_service(const Machine& machine) {
  const Result<std::string> active =
      output_of(machine, {"systemctl", "is-active", kPersistenceDaemon}, false);
  if (!active) return active.error();
  Record record;
  record.identity = *active == "active" ? kRunning : "";
  record.kind = kService;
  record.target = kPersistenceDaemon;
  record.old_value = kDisabled;
  record.new_value = kEnabled;
  return record;
}

Record enabled_peermem_service() {
  Record record;
  record.identity = kRunning;  // so that only its link is made and removed
  record.kind = kService;
  record.target = kPeermemService;
  record.old_value = kDisabled;
  record.new_value = kEnabled;
  return record;
}

Result<ChangePtr> persistence_mode_of(const Record& record) {
  if (!host::is_pci_address(record.target)) return no_such_record(record, "no address of a GPU");
  if (record.old_value != kOff || record.new_value != kOn) {
    return no_such_record(record, "it is only switched on");
  }
  return ChangePtr(new PersistenceMode(record));
}

Result<ChangePtr> service_of(const Record& record) {
  if (record.target != kPersistenceDaemon && record.target != kPeermemService)
    return no_such_record(record, "another service");
  if (!record.identity.empty() && record.identity != kRunning) {
    return no_such_record(record, "another state");
  }
  if (record.old_value != kDisabled || record.new_value != kEnabled) {
    return no_such_record(record, "it is only enabled");
  }
  return ChangePtr(new EnabledService(record));
}

}  // namespace gdr::fix
