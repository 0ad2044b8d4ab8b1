// A journal of any bytes: it is read, each of its records is refused or is a change that gdr fix
// itself could have made, and what is written of it is read back as the same. Undoing it on a small
// machine changes nothing there but the redirects of its one port, and nothing outside of it. What
// is then written behind it is read by the next one.
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fix/apply.h"
#include "fix/changes/text_file.h"
#include "fix/journal.h"
#include "input.h"

namespace {

using gdr::test::require;

namespace fs = std::filesystem;
using namespace gdr::fix;

constexpr unsigned kControl = 0x126;

// The port that the journals of the corpus are about; a file that must stay as it is.
class SmallMachine {
 public:
  SmallMachine() {
    // In memory where that is possible: a journal is flushed at each line.
    std::string name = (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                       "gdr-fuzz-XXXXXX";
    require(mkdtemp(name.data()) != nullptr);
    root_ = name;
    const fs::path place = root_ / "sys/devices/pci0000:00/0000:00:01.0";
    fs::create_directories(place);
    fs::create_directories(root_ / "sys/bus/pci/devices");
    fs::create_directories(root_ / "etc/modules-load.d");
    fs::create_directories(root_ / "etc/systemd/system");
    fs::create_directory_symlink("../../../devices/pci0000:00/0000:00:01.0",
                                 root_ / "sys/bus/pci/devices/0000:00:01.0");
    write("etc/passwd", "root\n");
  }
  ~SmallMachine() { fs::remove_all(root_); }

  void reset() const {
    std::string space(4096, '\0');
    const auto put = [&](unsigned at, unsigned value) {
      space[at] = static_cast<char>(value & 0xff);
      space[at + 1] = static_cast<char>(value >> 8);
    };
    put(0, 0x10b5), put(2, 0x8749), put(0x34, 0x40), put(0x40, 0x10), put(0x42, 0x62);
    put(0x100, 1), put(0x102, 0x1201), put(0x120, 0x0d), put(0x122, 1), put(0x124, 0x5f);
    put(kControl, 0x11);
    write("sys/devices/pci0000:00/0000:00:01.0/config", space);
    write(kModulesFile, file_text({"nvidia-peermem"}));
  }
  void write(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  std::string text(const std::string& path) const {
    std::ifstream file(root_ / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string config() const { return text("sys/devices/pci0000:00/0000:00:01.0/config"); }
  Machine machine() const {
    Machine machine = captured_machine(root_);
    machine.boot = "boot-a";
    machine.run = [](const std::vector<std::string>& command) -> gdr::Result<Ran> {
      const std::string& name = command.front();
      require(name == "modprobe" || name == "rmmod" || name == "chroot" || name == "nvidia-smi" ||
              name == "systemctl");
      return Ran{1, "fuzzed"};
    };
    return machine;
  }
  fs::path root_;
};

// Undone, written anew and gone on with: the next one reads all of it, torn as it may have been.
void check_going_on(const Machine& machine, const std::string& folder) {
  std::size_t entries = 0, not_understood = 0;
  {
    gdr::Result<Journal> journal = Journal::open(folder);
    require(bool{journal});
    undo(machine, *journal, {});
    require(bool{journal->tidy()});
    Record record;
    record.kind = kTextFile;
    record.target = kModulesFile;
    record.new_value = file_text({"nvidia-peermem"});
    const gdr::Result<unsigned> id = journal->begin(record);
    if (id) require(bool{journal->mark(*id, State::kDone)});
    entries = journal->entries().size();
    not_understood = journal->content().not_understood.size();
  }
  const gdr::Result<JournalContent> next = read_journal(folder);
  require(next && !next->torn && next->entries.size() == entries);
  require(next->not_understood.size() == not_understood);
}

void check_undo(const SmallMachine& host, std::string_view bytes) {
  host.reset();
  const std::string before = host.config();
  const std::string folder = host.root_ / "journal";
  const Machine machine = host.machine();
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_all);
  host.write("journal/journal", std::string(bytes));
  check_going_on(machine, folder);
  std::string after = host.config();
  require(after.size() == before.size());
  after[kControl] = before[kControl];
  require(after == before);
  require(host.text("etc/passwd") == "root\n");
  const std::string modules = host.text(kModulesFile);
  require(modules.empty() || is_own_text(kModulesFile, modules));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SmallMachine host;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const JournalContent content = parse_journal(bytes);
  std::string again;
  for (const Entry& entry : content.entries) {
    again += journal_line(entry.id, entry.record);
    if (entry.state != State::kBegun) again += journal_line(entry.id, entry.state);
    const gdr::Result<ChangePtr> change = change_of(entry.record);
    if (!change) continue;
    require(!(*change)->where().empty());
    (*change)->told(entry.record.old_value);
    (*change)->undo_command();
  }
  const JournalContent same = parse_journal(again);
  require(same.not_understood.empty() && !same.torn);
  require(same.entries.size() == content.entries.size());
  for (std::size_t i = 0; i < same.entries.size(); ++i) {
    require(same.entries[i].record == content.entries[i].record);
    require(same.entries[i].state == content.entries[i].state);
  }
  check_undo(host, bytes);
  return 0;
}
