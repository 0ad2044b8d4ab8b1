// A captured machine of which any file may be missing, cut off, full of nonsense, or a link to
// anywhere: the inventory and every check that reads files answer in bounded time, what they find
// has its reason, all reports can be written, and a capture of it has no link that leaves it.
// Beside the machine's root lies a folder whose files and names are in nothing that host::Files
// gives, in no report and in no capture.
//
// Input: changes to a small machine that is well, one after the other. Which files there are is
// learnt from what is asked for on it.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/environment.h"
#include "base/printable.h"
#include "doctor/capture/capture.h"
#include "doctor/environment.h"
#include "doctor/json_report.h"
#include "doctor/kernel_log.h"
#include "doctor/prometheus_report.h"
#include "doctor/run.h"
#include "doctor/text_report.h"
#include "doctor/ticket/ticket.h"
#include "input.h"
#include "machine.h"

namespace {

namespace fs = std::filesystem;
using gdr::doctor::Outcome;
using gdr::test::Machine;
using gdr::test::require;

constexpr const char* kContents[] = {"",
                                     "0",
                                     "-1",
                                     "1",
                                     "9223372036854775807",
                                     "99999999999999999999",
                                     "0x10de",
                                     "0x15b3",
                                     "0x030200",
                                     "0x060400",
                                     "0x2100",
                                     "Unknown",
                                     "4: ACTIVE",
                                     "2: INIT",
                                     "1: DOWN",
                                     "InfiniBand",
                                     "RoCE v2",
                                     "DMA",
                                     "nan GT/s",
                                     "1e999 GT/s",
                                     "255",
                                     "400 Gb/sec",
                                     "identity",
                                     "a;reboot\n\033[2J"};
// What is in the folder outside: in the content of its files and in its entries' names.
constexpr std::string_view kSentinel = "c2VudGluZWw";
constexpr std::size_t kMostChanges = 24, kMostDevices = 120, kDeepest = 32;

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  std::size_t byte() { return empty() ? 0 : data_[at_++]; }
  std::size_t word() { return byte() << 8 | byte(); }
  std::string some(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count && !empty()) bytes += static_cast<char>(byte());
    return bytes;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

// A folder beside the machines, with a file in the place of each that is asked for.
class Outside {
 public:
  explicit Outside(const std::vector<std::string>& asked) {
    std::string name = (fs::path(Machine().root()).parent_path() / "gdr-outside-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr);
    root_ = name;
    for (const std::string& path : asked) {
      fs::create_directories(root_ / path);
      std::ofstream(root_ / path / kSentinel) << kSentinel << "\n";
    }
    std::ofstream(root_ / "file") << kSentinel << " memlock busid=\"" << kSentinel << "\"\n";
    std::ofstream(root_ / "number") << "42\n" << kSentinel;
  }
  ~Outside() {
    std::error_code error;
    fs::remove_all(root_, error);
  }
  fs::path root() const { return root_; }

 private:
  fs::path root_;
};

bool tells(std::string_view text) { return text.find(kSentinel) != std::string_view::npos; }

void lay_out(Machine& machine) {
  machine.add_switch(1);
  machine.add_switch(2);
  machine.find("0000:39:00.0").group = 7;
  machine.write("sys/kernel/iommu_groups/7/type", "DMA\n");
  machine.write("sys/class/iommu/dmar0/name", "\n");
  machine.write("proc/77/limits", "Max locked memory         8388608      8388608     bytes\n");
  machine.write("proc/77/comm", "sshd\n");
  machine.link("proc/self", "proc/77");
  machine.write("proc/kallsyms", "0 t ib_register_peer_memory_client\t[ib_core]\n");
  machine.write("proc/driver/nvidia/params", "DmaRemapPeerMmio: 1\n");
  machine.write("sys/module/nvidia/version", "580.95.05\n");
  machine.write("var/log/dmesg", "NVRM: loading\n");
  machine.write_all();
}

gdr::doctor::Report examine(const std::string& root, const gdr::host::FileLog& log = {}) {
  const gdr::host::Files files(root, log);
  const gdr::host::Inventory inventory = gdr::host::take_inventory(files);
  gdr::doctor::Host host{files, inventory, gdr::doctor::read_environment(files), nullptr, {}, {}};
  host.kernel_log = gdr::doctor::read_kernel_log(files);
  gdr::doctor::Selection selection;
  selection.probes = false;
  return gdr::doctor::examine(host, selection);
}

const std::vector<std::string>& paths() {
  static const std::vector<std::string> known = [] {
    Machine machine;
    lay_out(machine);
    std::set<std::string> asked;
    examine(machine.root(),
            [&](const gdr::host::FileAccess& access) { asked.insert(access.path); });
    return std::vector<std::string>(asked.begin(), asked.end());
  }();
  return known;
}

const Outside& outside() {
  static const Outside folder(paths());
  return folder;
}

// All that host::Files gives of a path.
void check_files(const std::string& root, const std::string& path) {
  const gdr::host::Files files(root);
  require(!tells(files.text(path)));
  require(!tells(files.part(path, 0, 4096)));
  for (const std::string& line : files.lines_with(path, "")) require(!tells(line));
  for (const std::string& name : files.entries(path)) require(!tells(name));
  files.each_line(path, [](const std::string& line) {
    require(!tells(line));
    return true;
  });
  // A way to the sentinel's own names ends.
  require(!files.exists(path + "/" + std::string(kSentinel)));
}

void write(const fs::path& place, const std::string& content) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  if (fs::is_directory(place, error)) return;
  std::ofstream(place, std::ios::binary) << content;
}

// Devices without end below one bridge, or each below the one before.
void add_devices(const fs::path& root, std::size_t count, bool deep) {
  fs::path place = root / "sys/devices/pci0000:80";
  std::error_code error;
  for (std::size_t i = 0; i < count; ++i) {
    char address[16];
    snprintf(address, sizeof(address), "0000:%02zx:%02zx.0", i / 32, i % 32);
    const fs::path device = place / address;
    fs::create_directories(device, error);
    if (error) return;
    write(device / "vendor", i % 2 == 0 ? "0x10de" : "0x15b3");
    write(device / "class", i % 2 == 0 ? "0x030200" : "0x020000");
    const fs::path link = root / "sys/bus/pci/devices" / address;
    fs::remove(link, error);
    fs::create_symlink(device.lexically_relative(link.parent_path()), link, error);
    if (deep) place = device;
  }
}

// Out of the root, by its name from the top or by as many steps up as it takes.
void lead_outside(const fs::path& root, const fs::path& link, std::size_t way) {
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  fs::remove_all(link, error);
  const fs::path folder = outside().root();
  const fs::path below = link.lexically_relative(root);
  fs::path target = way % 2 == 0 ? folder : folder.lexically_relative(link.parent_path());
  switch (way / 2 % 4) {
    case 0:
      target /= "file";
      break;
    case 1:
      target /= "number";
      break;
    case 2:  // the same place there, where links on the way go on
      target /= below;
      break;
    default:
      break;
  }
  if (way / 8 % 2 == 1) target = fs::path("/proc/self/root") / target.relative_path();
  fs::create_symlink(target, link, error);
}

// Gives the path that leads outside since, if one does.
std::string change(const fs::path& root, Bytes& bytes) {
  const auto path = [&] { return root / paths()[bytes.word() % paths().size()]; };
  std::error_code error;
  switch (bytes.byte() % 9) {
    case 0:
      write(path(), kContents[bytes.byte() % std::size(kContents)]);
      return {};
    case 1:
      write(path(), bytes.some(bytes.byte()));
      return {};
    case 2: {  // configuration space, cut off and with some bytes changed
      gdr::test::MachineFunction function;
      function.config_size = bytes.word() % 4097;
      std::string space = Machine::config(function);
      for (std::size_t i = bytes.byte() % 8; i > 0 && !space.empty(); --i) {
        space[bytes.word() % space.size()] = static_cast<char>(bytes.byte());
      }
      write(path() / "config", space);
      return {};
    }
    case 3:
      fs::remove_all(path(), error);
      return {};
    case 4: {
      const fs::path link = path(), target = path();
      fs::remove(link, error);
      fs::create_symlink(target.lexically_relative(link.parent_path()), link, error);
      return {};
    }
    case 5: {
      const fs::path link = path();
      fs::remove_all(link, error);
      std::string target;
      for (std::size_t i = bytes.byte() % 12; i > 0; --i) target += "../";
      fs::create_symlink(target + bytes.some(8), link, error);
      return {};
    }
    case 6: {
      const fs::path place = path();
      fs::remove_all(place, error);
      fs::create_directories(place, error);
      return {};
    }
    case 8: {
      const fs::path link = path();
      lead_outside(root, link, bytes.byte());
      return link.lexically_relative(root);
    }
    default: {
      const bool deep = bytes.byte() % 2 == 0;
      add_devices(root, bytes.byte() % (deep ? kDeepest : kMostDevices), deep);
      return {};
    }
  }
}

void check(const gdr::doctor::Report& report) {
  for (const auto& judgement : report.judgements) {
    for (const auto& finding : judgement.findings) {
      require(!finding.summary.empty());
      const bool wrong = finding.outcome == Outcome::kFail || finding.outcome == Outcome::kWarn;
      require(!wrong || !finding.consequence.empty());
    }
  }
  const std::string text = gdr::doctor::to_text(report, {true, {}});
  for (std::string_view line : gdr::split(text, '\n')) require(gdr::printable(line) == line);
  const std::string json = gdr::doctor::to_json(report);
  require(nlohmann::json::accept(json));
  const std::string metrics = gdr::doctor::to_prometheus(report);
  require(!metrics.empty());
  require(!tells(text) && !tells(json) && !tells(metrics));
  const gdr::doctor::Ticket ticket{report, {}, "", "", "", "", "", ""};
  const std::string page = to_html(ticket), markdown = to_markdown(ticket);
  require(page.find("<script") == page.npos && page.find("</html>") == page.rfind("</html>"));
  require(!tells(page) && !tells(markdown));
}

void check(const gdr::doctor::Capture& capture) {
  for (const auto& [path, captured] : capture.entries) {
    require(!tells(path) && !tells(captured.content));
    if (captured.kind != gdr::doctor::Captured::Kind::kLink) continue;
    const fs::path target = captured.content;
    require(!target.is_absolute());
    require(*(fs::path(path).parent_path() / target).lexically_normal().begin() != "..");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  paths();
  Machine machine;
  lay_out(machine);
  Bytes bytes(data, size);
  std::set<std::string> asked, led;
  for (std::size_t i = 0; i < kMostChanges && !bytes.empty(); ++i) {
    led.insert(change(machine.root(), bytes));
  }
  led.erase("");
  check(examine(machine.root(),
                [&](const gdr::host::FileAccess& access) { asked.insert(access.path); }));
  for (const std::string& link : led) {
    check_files(machine.root(), link);
    for (auto path = asked.lower_bound(link); path != asked.end() && path->starts_with(link);
         ++path) {
      check_files(machine.root(), *path);
    }
  }
  check(gdr::doctor::take_capture(machine.root()));
  return 0;
}
