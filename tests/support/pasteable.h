// Whether what a check says to type can be typed as it is: each line a command that bash takes and
// that begins with a program, none of it prose.
//
//   EXPECT_TRUE(pasteable(finding.fix));
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/environment.h"
#include "doctor/check.h"
#include "doctor/probe/command.h"

namespace gdr::doctor::test {

// The programs that fixes are made of. A word that is not here is taken for prose.
inline const std::set<std::string>& programs() {
  static const std::set<std::string> all = {
      "cat",        "cma_roce_mode", "chroot",   "dcb",         "dkms",
      "dmesg",      "docker",        "echo",     "export",      "fuser",
      "gdr",        "grep",          "grubby",   "ip",          "kubectl",
      "lspci",      "mkdir",         "mlnx_qos", "mlxconfig",   "mlxfwmanager",
      "mlxlink",    "mknod",         "modprobe", "mount",       "nvidia-modprobe",
      "nvidia-smi", "ofed_info",     "printf",   "prlimit",     "rdma",
      "rdma_topo",  "rmmod",         "setpci",   "sysctl",      "systemctl",
      "tee",        "ulimit",        "unset",    "update-grub", "zgrep"};
  return all;
}

inline bool bash_takes(const std::string& command) {
  static std::set<std::string> taken;  // checks say the same of many machines
  if (taken.contains(command)) return true;
  const CommandAnswer answer = run_command({"bash", "-n", "-c", command}, 20 * kSecond);
  if (answer.status != 0 || answer.timed_out) return false;
  taken.insert(command);
  return true;
}

// "modprobe" of "sudo modprobe nvidia", "ip" of "for d in a b; do sudo ip link; done".
inline std::string program_of(const std::string& command) {
  std::string_view rest(command);
  if (rest.starts_with("for d in ")) rest.remove_prefix(rest.find("; do ") + 5);
  for (std::string_view word : split(rest, ' ')) {
    const bool option = word.starts_with("-") || word.find('=') != std::string_view::npos;
    const bool before = word == "sudo" || word == "env" || word == "LD_LIBRARY_PATH" ||
                        word == "LD_PRELOAD" || word == "CUDA_VISIBLE_DEVICES";
    if (!option && !before) return std::string(word);
  }
  return {};
}

inline ::testing::AssertionResult pasteable(const text::Command& commands) {
  if (commands.empty()) return ::testing::AssertionSuccess();
  for (std::string_view line : split(commands.text(), '\n')) {
    const std::string command(line);
    if (!programs().contains(program_of(command))) {
      return ::testing::AssertionFailure() << "no program that tests know begins: " << command;
    }
    if (!bash_takes(command)) {
      return ::testing::AssertionFailure() << "bash does not take: " << command;
    }
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult pasteable(const Fix& fix) {
  for (const Action* action : {&fix.now, &fix.for_good}) {
    for (const text::Command* commands : {&action->command, &action->by_hand}) {
      if (const auto result = pasteable(*commands); !result) return result;
    }
    if (action->note.find("sudo ") != std::string::npos ||
        action->note.find('\n') != std::string::npos) {
      return ::testing::AssertionFailure() << "a command within a sentence: " << action->note;
    }
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult pasteable(const Findings& findings) {
  for (const Finding& finding : findings) {
    if (const auto result = pasteable(finding.fix); !result) return result;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace gdr::doctor::test
