// Module.symvers: what a build of kernel modules exports, with the symbol versions, a line each:
//
//   0x219924d1<tab>nvidia_p2p_get_pages<tab>nvidia<tab>EXPORT_SYMBOL_GPL<tab>
//
//   Exports exports = read_symvers(files, "usr/src/ofa_kernel/default/Module.symvers");
//   std::string text = symvers_text(exports, "nvidia");
#pragma once

#include <string>

#include "host/files.h"
#include "peermem/module_file.h"

namespace gdr::peermem {

// Empty where there is no such file, or none of its lines is one of these.
Exports read_symvers(const host::Files& files, const std::string& path);

// What has no version gets 0: whatever a module wants of such an exporter, the kernel lets it in.
std::string symvers_text(const Exports& exports, const std::string& module);

}  // namespace gdr::peermem
