#include "participants/stand_in_package.h"

#include <filesystem>

namespace gdr::participants {
namespace {

namespace fs = std::filesystem;

// Where packages put the program. Another one was built, or unpacked from a tarball, which has all.
constexpr const char* kPackaged = "/usr/bin/gdr";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

text::Command command_for_stand_ins(const std::string& root, const std::string& program) {
  const fs::path top(root);
  if (program == kPackaged && is_there(top / "var/lib/dpkg/info/gdrkit.list")) {
    return text::Command("apt-get install ./gdrkit-standins_*.deb");
  }
  if (program == kPackaged &&
      (is_there(top / "var/lib/rpm") || is_there(top / "usr/lib/sysimage/rpm"))) {
    return text::Command("dnf install ./gdrkit-standins-*.rpm");
  }
  return {};
}

text::Command command_for_stand_ins() {
  std::error_code error;
  return command_for_stand_ins("/", fs::read_symlink("/proc/self/exe", error));
}

std::string missing_stand_in(const std::string& path) {
  const text::Command command = command_for_stand_ins();
  if (command.empty()) return path + " is missing; build or install gdrkit as a whole";
  return path + " is missing; the package gdrkit-standins has it: " + command.text();
}

}  // namespace gdr::participants
