// The kernel's headers, in which a module is built. make runs their Makefile and their programs
// with all rights of this account, so they are judged like a program.
#pragma once

#include <string>

#include "base/result.h"
#include "peermem/survey.h"

namespace gdr::peermem {

// Their folder on this machine. `given`: --headers; empty: what this machine has. EINVAL: they are
// below a captured root, which is only read. EPERM: another account than root and this one could
// change them; where this account is not root, it may name such headers.
Result<std::string> find_headers(const host::Files& files, const Survey& survey,
                                 const std::string& given);

}  // namespace gdr::peermem
