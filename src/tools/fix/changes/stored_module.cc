#include "fix/changes/stored_module.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/kill_point.h"
#include "base/unique_fd.h"
#include "fix/changes/kinds.h"
#include "fix/on_disk.h"
#include "text/format.h"

namespace gdr::fix {
namespace {

constexpr std::size_t kLargest = 64 << 20;  // with the debugger's types it has half a megabyte
constexpr const char* kRoot = "lib/modules/";
constexpr const char* kUpdates = "/updates";
constexpr const char* kFolder = "/updates/gdrkit";
constexpr const char* kFile = "/updates/gdrkit/nvidia-peermem.ko";
constexpr const char* kNewFolder = "new folder";    // updates/gdrkit
constexpr const char* kNewFolders = "new folders";  // updates, too
// Neither has an ending that depmod takes for a module.
constexpr const char* kBeside = ".gdr-new";
constexpr const char* kGoing = ".gdr-old";

// Empty: it is no such file.
std::string kernel_of(const std::string& target) {
  const std::string_view root(kRoot), file(kFile);
  if (target.size() <= root.size() + file.size() || !target.starts_with(root) ||
      !target.ends_with(file)) {
    return {};
  }
  const std::string kernel = target.substr(root.size(), target.size() - root.size() - file.size());
  constexpr std::string_view kAllowed =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_+~";
  const bool plain = kernel.find_first_not_of(kAllowed) == std::string::npos &&
                     kernel.front() != '.' && kernel.front() != '-';
  return plain ? kernel : std::string();
}

bool is_stored_name(const std::string& name) {
  constexpr std::string_view kBegin = "nvidia-peermem-", kEnd = ".ko";
  if (name.size() != kBegin.size() + 16 + kEnd.size() || !name.starts_with(kBegin) ||
      !name.ends_with(kEnd)) {
    return false;
  }
  return name.substr(kBegin.size(), 16).find_first_not_of("0123456789abcdef") == std::string::npos;
}

// ENOENT: there is none. EEXIST: it is no regular file.
Result<std::string> read_bytes(const Machine& machine, const std::string& path) {
  const UniqueFd file = machine.files.folder().open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file && errno == ENOTDIR) errno = ENOENT;
  if (!file && errno == ELOOP) return Error{EEXIST, "/" + path + " is a symbolic link"};
  if (!file) return from_errno("/" + path);
  struct stat found {};
  if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_size > static_cast<off_t>(kLargest)) {
    return Error{EEXIST, "/" + path + " is not a module's file"};
  }
  std::string bytes(static_cast<std::size_t>(found.st_size), '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return from_errno("/" + path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

// Which of the stored ones is there; nothing where there is no file.
Result<Value> value_at(const Machine& machine, const std::string& path) {
  const Result<std::string> bytes = read_bytes(machine, path);
  if (!bytes && bytes.error().code == ENOENT) return Value();
  if (!bytes) return bytes.error();
  std::string name = stored_name(*bytes);
  const Result<std::string> stored = read_bytes(machine, std::string(kModuleStore) + "/" + name);
  if (stored && *stored == *bytes) return Value(std::move(name));
  return Error{EEXIST, "/" + path + " was not installed by gdr peermem, which leaves it alone"};
}

Result<void> write_beside(const std::string& path, const std::string& bytes, mode_t mode) {
  unlink(path.c_str());  // of a gdr that was killed
  const UniqueFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) return from_errno(path);
  if (fchmod(file.get(), mode) != 0) return from_errno(path);
  return write_to_disk(file.get(), bytes, path);
}

Result<void> replace(const std::string& path, const std::string& bytes, mode_t mode) {
  Result<void> done = write_beside(path + kBeside, bytes, mode);
  if (done && rename((path + kBeside).c_str(), path.c_str()) != 0) done = from_errno(path);
  if (!done) {
    unlink((path + kBeside).c_str());
    return done;
  }
  return flush_folder(path.substr(0, path.rfind('/')));
}

Result<void> make_folder(const std::string& path, mode_t mode) {
  return mkdir(path.c_str(), mode) == 0 || errno == EEXIST ? Result<void>()
                                                           : Result<void>(from_errno(path));
}

class StoredModule : public Change {
 public:
  explicit StoredModule(const Record& record) : Change(record), kernel_(kernel_of(record.target)) {}

  std::string where() const override { return "/" + record().target; }
  std::string told(const Value& value) const override {
    return value ? "the module " + *value + " of gdr peermem" : "no such file";
  }
  bool outlives_boot() const override { return true; }

  // One that is on its way out is still there until depmod has taken it off its lists.
  Result<Value> read(const Machine& machine) const override {
    Result<Value> there = value_at(machine, record().target);
    if (!there || *there) return there;
    return value_at(machine, record().target + kGoing);
  }

  Result<void> write(const Machine& machine, const Value& value) const override {
    if (!machine.run) return Error{ENOTSUP, "a captured machine cannot run programs"};
    if (const Result<Value> now = read(machine); !now) return now.error();
    return value ? put(machine, *value) : remove(machine);
  }

  void tidy(const Machine& machine) const override {
    const std::string path = machine.absolute(record().target);
    unlink((path + kBeside).c_str());
    if (access(path.c_str(), F_OK) != 0 && access((path + kGoing).c_str(), F_OK) != 0) {
      remove_folders(machine);
    }
  }

 private:
  std::string folder(const char* name) const { return kRoot + kernel_ + name; }

  Result<void> put(const Machine& machine, const std::string& name) const {
    const Result<std::string> bytes = read_bytes(machine, std::string(kModuleStore) + "/" + name);
    if (!bytes) return bytes.error();
    if (stored_name(*bytes) != name) {
      return Error{EINVAL, fmt::format("/{}/{} has been altered", kModuleStore, name)};
    }
    for (const char* one : {kUpdates, kFolder}) {
      if (Result<void> made = make_folder(machine.absolute(folder(one)), 0755); !made) {
        return made;
      }
    }
    const std::string path = machine.absolute(record().target);
    if (Result<void> put = replace(path, *bytes, 0644); !put) return put;
    unlink((path + kGoing).c_str());
    kill_point("fix_module_put");
    return index(machine);
  }

  Result<void> remove(const Machine& machine) const {
    const std::string path = machine.absolute(record().target);
    if (rename(path.c_str(), (path + kGoing).c_str()) != 0 && errno != ENOENT) {
      return from_errno(path);
    }
    kill_point("fix_module_going");
    if (Result<void> indexed = index(machine); !indexed) return indexed;
    if (unlink((path + kGoing).c_str()) != 0 && errno != ENOENT) return from_errno(path);
    remove_folders(machine);
    return {};
  }

  // Those that this made; they stay where somebody has put something into them since.
  void remove_folders(const Machine& machine) const {
    if (record().identity.empty()) return;
    rmdir(machine.absolute(folder(kFolder)).c_str());
    if (record().identity == kNewFolders) rmdir(machine.absolute(folder(kUpdates)).c_str());
  }

  Result<void> index(const Machine& machine) const {
    std::vector<std::string> command = {"depmod", kernel_};
    if (!machine.is_live()) command = {"depmod", "-b", machine.files.root(), kernel_};
    const Result<Ran> ran = machine.run(command);
    if (!ran) return ran.error();
    if (ran->status == 0) return {};
    return Error{EIO, fmt::format("depmod ended with {}: {}", ran->status, printable(ran->output))};
  }

  std::string kernel_;
};

}  // namespace

std::string installed_module_file(const std::string& kernel) { return kRoot + kernel + kFile; }

std::string stored_name(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return fmt::format("nvidia-peermem-{:016x}.ko", hash);
}

Result<void> store_module(const Machine& machine, const std::string& bytes) {
  if (bytes.size() > kLargest) return Error{EFBIG, "the module is larger than 64 MiB"};
  for (const char* folder : {"var", "var/lib", "var/lib/gdrkit", kModuleStore}) {
    const mode_t mode = folder == kModuleStore ? 0700 : 0755;
    if (Result<void> made = make_folder(machine.absolute(folder), mode); !made) return made;
  }
  const std::string path = std::string(kModuleStore) + "/" + stored_name(bytes);
  if (const Result<std::string> there = read_bytes(machine, path); there && *there == bytes) {
    return {};
  }
  return replace(machine.absolute(path), bytes, 0600);
}

void tidy_store(const Machine& machine, const JournalContent& journal) {
  // Lines that nobody understands may name one.
  if (!journal.not_understood.empty()) return;
  for (const std::string& name : machine.files.entries(kModuleStore)) {
    if (name.ends_with(kBeside)) {  // of a gdr that was killed
      unlink(machine.absolute(std::string(kModuleStore) + "/" + name).c_str());
    }
    if (!is_stored_name(name)) continue;
    const bool needed = std::ranges::any_of(journal.entries, [&](const Entry& entry) {
      return entry.state != State::kUndone && entry.record.kind == kModuleFile &&
             (entry.record.old_value == name || entry.record.new_value == name);
    });
    if (!needed) unlink(machine.absolute(std::string(kModuleStore) + "/" + name).c_str());
  }
  rmdir(machine.absolute(kModuleStore).c_str());  // if it is empty
}

Result<Record> installed_module(const Machine& machine, const std::string& kernel,
                                const std::string& name) {
  Record record;
  record.kind = kModuleFile;
  record.target = installed_module_file(kernel);
  Result<Value> now = value_at(machine, record.target);
  if (!now) return now.error();
  record.old_value = *std::move(now);
  record.new_value = name;
  if (!machine.files.exists(kRoot + kernel + kUpdates)) {
    record.identity = kNewFolders;
  } else if (!machine.files.exists(kRoot + kernel + kFolder)) {
    record.identity = kNewFolder;
  }
  return record;
}

Result<ChangePtr> stored_module_of(const Record& record) {
  if (kernel_of(record.target).empty()) return no_such_record(record, "another file");
  for (const Value& value : {record.old_value, record.new_value}) {
    if (value && !is_stored_name(*value)) return no_such_record(record, "another module");
  }
  if (!record.identity.empty() && record.identity != kNewFolder && record.identity != kNewFolders) {
    return no_such_record(record, "another folder");
  }
  return ChangePtr(new StoredModule(record));
}

}  // namespace gdr::fix
