// What `gdr run` has to know about a program before it starts it: whether the dynamic loader can be
// told to load other libraries into it at all.
//
//   Result<ProgramFile> program = inspect_program("/usr/bin/ib_write_bw");
//   if (program && program->kind == ProgramKind::kStatic) ...
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gdr::cli {

enum class ProgramKind {
  kDynamic,  // an ELF program with an interpreter, or a script whose interpreter is one
  kStatic,   // an ELF program that no loader touches
  kForeign,  // an ELF program for another processor, or of 32 bits
  kUnknown,  // neither ELF nor "#!": the kernel or the shell will decide
};

struct ProgramFile {
  std::string path;  // the ELF file that was looked at: for a script its interpreter
  ProgramKind kind = ProgramKind::kUnknown;
  bool privileged = false;     // set-user-ID, set-group-ID or capabilities: LD_* will be ignored
  bool has_rpath = false;      // DT_RPATH without DT_RUNPATH: searched before LD_LIBRARY_PATH
  bool static_cudart = false;  // carries the CUDA runtime in itself
  std::vector<std::string> needed;  // DT_NEEDED
};

Result<ProgramFile> inspect_program(const std::string& path);

}  // namespace gdr::cli
