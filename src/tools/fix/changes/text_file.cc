#include "fix/changes/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/environment.h"
#include "base/kill_point.h"
#include "base/unique_fd.h"
#include "fix/changes/kinds.h"
#include "fix/on_disk.h"

namespace gdr::fix {
namespace {

constexpr std::size_t kLargest = 16 * 1024;
constexpr const char* kNewFolder = "new folder";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Beside the file, with an ending that nothing reads as configuration.
std::string temporary_of(const std::string& path) {
  return folder_of(path) + "/." + path.substr(path.rfind('/') + 1) + ".gdr-new";
}

bool is_modules_line(std::string_view line) {
  return line == "nvidia-peermem" || line == "nv_peer_mem" || line == "efa_nv_peermem";
}

bool is_override_line(std::string_view line) { return line == kPeermemOverride; }
bool is_softdep_line(std::string_view line) { return line == kPeermemSoftdep; }
bool is_unit_line(std::string_view line) {
  return std::ranges::find(peermem_unit(), line) != peermem_unit().end();
}

bool is_limits_line(std::string_view line) {
  return line == "* soft memlock unlimited" || line == "* hard memlock unlimited" ||
         line == "root soft memlock unlimited" || line == "root hard memlock unlimited";
}

bool is_drop_in_line(std::string_view line) {
  return line == "[Service]" || line == "LimitMEMLOCK=infinity";
}

// The shell reads this file, so nothing in it may be more than letters to the shell.
bool is_grub_line(std::string_view line) {
  constexpr std::string_view kBegin = "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=";
  constexpr std::string_view kEnd = "\\\"\"";
  if (line.substr(0, kBegin.size()) != kBegin || line.size() < kBegin.size() + kEnd.size()) {
    return false;
  }
  line.remove_prefix(kBegin.size());
  bool known = false;
  for (std::string_view name : {"config_acs=\\\"", "disable_acs_redir=\\\""}) {
    if (line.substr(0, name.size()) != name) continue;
    line.remove_prefix(name.size());
    known = true;
    break;
  }
  if (!known || line.size() < kEnd.size() || line.substr(line.size() - kEnd.size()) != kEnd) {
    return false;
  }
  line.remove_suffix(kEnd.size());
  return line.find_first_not_of("0123456789abcdefx:./;@") == std::string_view::npos;
}

bool is_udev_line(std::string_view line) {
  const std::size_t vendor = line.find("{vendor}==\"0x"), device = line.find("{device}==\"0x");
  if (vendor == std::string_view::npos || device == std::string_view::npos) return false;
  const std::string numbers =
      std::string(line.substr(vendor + 13, 4)) + ":" + std::string(line.substr(device + 13, 4));
  if (numbers.find_first_not_of("0123456789abcdef:") != std::string::npos) return false;
  return line == read_request_rule(numbers, "/usr/bin/setpci") ||
         line == read_request_rule(numbers, "/usr/sbin/setpci");
}

using LineRule = bool (*)(std::string_view line);

// Null: gdr fix writes no such file.
LineRule rule_of(const std::string& path) {
  if (path == kModulesFile || path == kPeermemModulesFile) return is_modules_line;
  if (path == kPeermemDepmodFile) return is_override_line;
  if (path == kPeermemModprobeFile) return is_softdep_line;
  if (path == kPeermemUnitFile) return is_unit_line;
  if (path == kLimitsFile) return is_limits_line;
  if (path == kGrubFile) return is_grub_line;
  if (path == kUdevFile) return is_udev_line;
  for (const std::string& service : memory_services()) {
    if (path == drop_in_file(service)) return is_drop_in_line;
  }
  return nullptr;
}

Result<void> write_beside(const std::string& temporary, const std::string& text) {
  unlink(temporary.c_str());  // of a gdr fix that was killed
  const UniqueFd file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) return from_errno(temporary);
  if (fchmod(file.get(), 0644) != 0) return from_errno(temporary);
  return write_to_disk(file.get(), text, temporary);
}

class TextFile : public Change {
 public:
  using Change::Change;

  std::string where() const override { return "/" + record().target; }
  std::string told(const Value& value) const override {
    if (!value) return "no such file";
    std::string text;
    const std::string_view whole(*value);
    for (std::string_view line : split(whole.substr(0, whole.size() - 1), '\n')) {
      if (line == kMark) continue;
      text += (text.empty() ? "" : "; ") + std::string(line);
    }
    return text;
  }
  text::Command undo_command() const override {
    if (record().old_value) return {};
    return text::Command("rm /{}", record().target);
  }
  bool outlives_boot() const override { return true; }

  Result<Value> read(const Machine& machine) const override {
    return read_own_file(machine, record().target);
  }

  Result<void> write(const Machine& machine, const Value& value) const override {
    const Result<Value> now = read(machine);
    if (!now) return now.error();
    const std::string path = machine.absolute(record().target);
    return value ? put(path, *value) : remove(path);
  }

  void tidy(const Machine& machine) const override {
    const std::string path = machine.absolute(record().target);
    unlink(temporary_of(path).c_str());
    if (access(path.c_str(), F_OK) != 0) remove_folder(path);
  }

 private:
  Result<void> put(const std::string& path, const std::string& text) const {
    const std::string folder = folder_of(path), temporary = temporary_of(path);
    if (record().identity == kNewFolder && mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return from_errno(folder);
    }
    Result<void> done = write_beside(temporary, text);
    kill_point("fix_written_beside");
    if (done && rename(temporary.c_str(), path.c_str()) != 0) done = from_errno(path);
    if (!done) {
      unlink(temporary.c_str());
      return done;
    }
    return flush_folder(folder);
  }

  Result<void> remove(const std::string& path) const {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return from_errno(path);
    if (record().identity == kNewFolder) return remove_folder(path), Result<void>();
    return flush_folder(folder_of(path));
  }

  // One that this made; it stays where somebody has put something into it since.
  void remove_folder(const std::string& path) const {
    if (record().identity == kNewFolder) rmdir(folder_of(path).c_str());
  }
};

}  // namespace

const std::vector<std::string>& peermem_unit() {
  // An install command of the driver's package for this name (Debian) would load the driver's own.
  static const std::vector<std::string> lines = {
      "[Unit]",
      "Description=Peer-memory module for GPUDirect RDMA (gdrkit)",
      "After=openibd.service nvidia-persistenced.service",
      "[Service]",
      "Type=oneshot",
      "RemainAfterExit=yes",
      "ExecStart=/sbin/modprobe --ignore-install nvidia-peermem",
      "ExecStop=/sbin/rmmod nvidia_peermem",
      "[Install]",
      "WantedBy=multi-user.target"};
  return lines;
}

const std::vector<std::string>& memory_services() {
  static const std::vector<std::string> services = {"containerd", "crio", "docker", "kubelet",
                                                    "slurmd",     "ssh",  "sshd"};
  return services;
}

std::string drop_in_file(const std::string& service) {
  return "etc/systemd/system/" + service + ".service.d/95-gdrkit.conf";
}

std::string read_request_rule(const std::string& numbers, const std::string& setpci) {
  return "ACTION==\"bind\", SUBSYSTEM==\"pci\", ATTR{vendor}==\"0x" + numbers.substr(0, 4) +
         "\", ATTR{device}==\"0x" + numbers.substr(5) + "\", RUN+=\"" + setpci +
         " -s $kernel CAP_EXP+8.w=5000:7000\"";
}

std::string file_text(const std::vector<std::string>& lines) {
  std::string text = std::string(kMark) + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool is_own_text(const std::string& path, const std::string& text) {
  const LineRule rule = rule_of(path);
  if (!rule || text.size() > kLargest || text.empty() || text.back() != '\n') return false;
  const std::string_view whole(text);
  const auto lines = split(whole.substr(0, whole.size() - 1), '\n');
  return lines.front() == kMark && std::all_of(lines.begin() + 1, lines.end(), rule);
}

Result<Value> read_own_file(const Machine& machine, const std::string& path) {
  const UniqueFd file = machine.files.folder().open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return Value();
  if (!file && errno == ELOOP) return Error{EEXIST, "/" + path + " is a symbolic link"};
  if (!file) return from_errno("/" + path);
  struct stat found {};
  if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return Error{EEXIST, "/" + path + " is not a regular file"};
  }
  std::string text(kLargest + 1, '\0');
  const ssize_t got = read(file.get(), text.data(), text.size());
  if (got < 0) return from_errno("/" + path);
  text.resize(static_cast<std::size_t>(got));
  if (is_own_text(path, text)) return Value(text);
  return Error{EEXIST,
               "/" + path + " was written or edited by somebody else; gdr fix leaves it alone"};
}

Result<Record> written_file(const Machine& machine, const std::string& path,
                            const std::string& text) {
  Result<Value> now = read_own_file(machine, path);
  if (!now) return now.error();
  Record record;
  record.kind = kTextFile;
  record.target = path;
  record.old_value = *std::move(now);
  record.new_value = text;
  if (!machine.files.exists(folder_of(path))) record.identity = kNewFolder;
  return record;
}

Result<ChangePtr> text_file_of(const Record& record) {
  if (!rule_of(record.target)) return no_such_record(record, "another file");
  if (!record.identity.empty() && record.identity != kNewFolder) {
    return no_such_record(record, "another folder");
  }
  for (const Value& value : {record.old_value, record.new_value}) {
    if (value && !is_own_text(record.target, *value)) {
      return no_such_record(record, "a text that gdr fix does not write");
    }
  }
  return ChangePtr(new TextFile(record));
}

}  // namespace gdr::fix
