// The peer-memory module that gdr peermem builds, as a file below a kernel's updates/gdrkit. A
// journal cannot hold it, so it holds the name of a copy in a store of gdrkit's own, which is made
// before the journal's line: what is put back comes from there, too. depmod runs with every change.
//
//   const std::string name = stored_name(bytes);
//   Result<Record> record = installed_module(machine, "6.1.0-56-amd64", name);
//   Result<void> kept = store_module(machine, bytes);   // before the record is applied
#pragma once

#include <string>

#include "fix/journal.h"
#include "fix/machine.h"
#include "fix/record.h"

namespace gdr::fix {

inline constexpr const char* kModuleStore = "var/lib/gdrkit/peermem";

// "lib/modules/6.1.0-56-amd64/updates/gdrkit/nvidia-peermem.ko"
std::string installed_module_file(const std::string& kernel);

// "nvidia-peermem-0123456789abcdef.ko": by a hash, so that one module has one name. What it stands
// for is compared byte by byte.
std::string stored_name(const std::string& bytes);

Result<void> store_module(const Machine& machine, const std::string& bytes);
// Removes those copies that no entry of the journal needs.
void tidy_store(const Machine& machine, const JournalContent& journal);

// The change from what is there. EEXIST: it is none that gdr peermem has installed.
Result<Record> installed_module(const Machine& machine, const std::string& kernel,
                                const std::string& name);

}  // namespace gdr::fix
