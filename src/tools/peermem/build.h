// Building the peer-memory module against exactly the driver and the RDMA stack that a survey
// found: the symbol versions come out of the modules' own files. What is built is read again and
// judged, and put in its place only if the kernel would take it.
//
//   BuildOrder order{.source = "/usr/share/gdrkit/kernel", .output = "nvidia-peermem.ko"};
//   Result<Built> built = build(files, survey, order, this_workshop());
//
// Nothing is left behind by a build that fails but the compiler's output, beside the wanted file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fix/machine.h"
#include "peermem/survey.h"

namespace gdr::peermem {

struct BuildOrder {
  std::string source;         // a folder with nvidia_peermem.c, Kbuild and Makefile
  std::string output;         // the file to make
  std::string headers;        // a folder of this machine; empty: what the survey's machine has
  std::string driver_source;  // empty: none was given
};

struct Built {
  std::string file;                  // as ordered
  std::string kernel, driver, rdma;  // what it was built for, and from which files
  std::vector<std::string> notes;
};

// What a build needs of a machine; tests lack a compiler, or have one that fails.
struct Workshop {
  fix::Runner run;
  std::function<bool(const std::string& program)> has;  // in the system's folders
  std::string scratch;  // folder in which a folder is made, and removed; empty: as TMPDIR says
};
Workshop this_workshop();

Result<Built> build(const host::Files& files, const Survey& survey, const BuildOrder& order,
                    const Workshop& workshop);

}  // namespace gdr::peermem
