// Machine: what gdr fix changes: files below a root folder, programs that it starts, and who asks.
// Tests give it a folder of their own and a runner that starts nothing.
//
//   Machine machine = this_machine();
//   machine.files.line("sys/kernel/security/lockdown");
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/files.h"

namespace gdr::fix {

struct Ran {
  int status = 0;      // 128 + N where signal N ended it
  std::string output;  // the first 64 KiB of what it wrote
};
using Runner = std::function<Result<Ran>(const std::vector<std::string>& command)>;

struct Machine {
  host::Files files;
  std::string boot;        // of this boot; empty: not known
  bool superuser = false;  // may write
  Runner run;              // nothing: no program can be started (a captured machine)
  // How a register is written; tests have one that ignores it.
  std::function<ssize_t(int file, const void* bytes, std::size_t size, off_t offset)> put;

  bool is_live() const { return files.is_live(); }
  std::string absolute(const std::string& path) const { return files.root() + "/" + path; }
};

Machine this_machine();
// A folder that holds a machine's sys and proc. Nothing of it may be changed but by tests.
Machine captured_machine(const std::string& root);

}  // namespace gdr::fix
