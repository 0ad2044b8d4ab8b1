// Installing the peer-memory module: what must be right before anything is changed, and the changes
// themselves, which the engine of gdr fix makes, journals and undoes.
//
//   Result<Prepared> prepared = prepare_install(files, survey, order, workshop);
//   fix::Proposal proposal = plan_install(machine, survey, *prepared);
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fix/plan.h"
#include "peermem/build.h"
#include "peermem/survey.h"

namespace gdr::peermem {

struct InstallOrder {
  std::string file;              // what gdr peermem build made
  std::string key, certificate;  // to sign with; empty: DKMS's, where there is one
  std::string headers;
  bool dry_run = false;  // nothing is signed
};

struct Prepared {
  std::string kernel;
  std::string bytes;  // of the module, signed where it is
  std::vector<std::string> notes;
};

// What a file held when it was read: just that is verified and installed, whoever writes to the
// file meanwhile.
struct Installable {
  ModuleFile module;
  std::string bytes;
};
// EINVAL: it is no module that can be installed.
Result<Installable> read_module_to_install(const std::string& file);

// The error: why the module would not be loaded, or cannot be installed.
Result<Prepared> prepare_install(const host::Files& files, const Survey& survey,
                                 const InstallOrder& order, const Workshop& workshop);

fix::Proposal plan_install(const fix::Machine& machine, const Survey& survey,
                           const Prepared& prepared);

}  // namespace gdr::peermem
