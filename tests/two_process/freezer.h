// A process that gets no time and does not look stopped: a container that is frozen (docker pause).
// A control group of this test's own, of either version.
//
//   auto frozen = Freezer::around(child);
//   if (!frozen) GTEST_SKIP() << "no control group can be had here";
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

namespace gdr::test {

class Freezer {
 public:
  static std::unique_ptr<Freezer> around(pid_t pid) {
    for (const char* parent : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      const Version second = {"cgroup.freeze", "1", "0", "cgroup.events", "frozen 1"};
      if (auto group = in(parent, pid, second)) return group;
    }
    const Version first = {"freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN"};
    return in("/sys/fs/cgroup/freezer", pid, first);
  }

  ~Freezer() {
    thaw();
    write(folder_.parent_path() / "cgroup.procs", std::to_string(pid_));
    std::error_code error;
    for (int tries = 0; tries < 100 && !std::filesystem::remove(folder_, error); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;

  void thaw() { write(folder_ / version_.file, version_.thawed); }

 private:
  // What is written where, and where the kernel says that it is done.
  struct Version {
    const char* file;
    const char* frozen;
    const char* thawed;
    const char* events;
    const char* is_frozen;
  };

  Freezer(std::filesystem::path folder, pid_t pid, const Version& version)
      : folder_(std::move(folder)), version_(version), pid_(pid) {}

  static std::unique_ptr<Freezer> in(const std::filesystem::path& parent, pid_t pid,
                                     const Version& version) {
    const auto folder = parent / ("gdr-test-" + std::to_string(pid));
    std::error_code error;
    // A mere folder is no group: version 1 has its groups one folder further down.
    if (!std::filesystem::exists(parent / "cgroup.procs", error) ||
        !std::filesystem::create_directory(folder, error)) {
      return nullptr;
    }
    std::unique_ptr<Freezer> group(new Freezer(folder, pid, version));
    if (!write(folder / "cgroup.procs", std::to_string(pid)) ||
        !write(folder / version.file, version.frozen) || !group->is_frozen_soon()) {
      return nullptr;
    }
    return group;
  }

  [[nodiscard]] bool is_frozen_soon() const {
    for (int tries = 0; tries < 500; ++tries) {
      std::stringstream events;
      events << std::ifstream(folder_ / version_.events).rdbuf();
      if (events.str().find(version_.is_frozen) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  static bool write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::in | std::ios::out);  // never a new file
    file << text << std::flush;
    return file.good();
  }

  std::filesystem::path folder_;
  Version version_;
  pid_t pid_;
};

}  // namespace gdr::test
