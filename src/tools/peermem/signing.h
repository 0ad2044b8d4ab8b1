// Signing a module where the kernel wants it, and saying what is missing before anything is tried:
// the kernel's own words are "Key was rejected by service".
//
//   const Enforcement enforcement = read_enforcement(files);
//   Result<std::optional<SigningKey>> key = find_key(files, "", "");
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "fix/machine.h"
#include "host/files.h"

namespace gdr::peermem {

// Why the kernel refuses modules without a signature that it knows; empty: it does not.
std::string read_enforcement(const host::Files& files);

struct SigningKey {
  std::string key, certificate;  // files of this machine
  std::string whose;             // "given", "of DKMS"
};
// Both that were given, or those of DKMS (its own, or those that its configuration names), or of
// Ubuntu's shim; nothing: there are none. EINVAL: one of two was given, or a file is not there.
Result<std::optional<SigningKey>> find_key(const host::Files& files, const std::string& key,
                                           const std::string& certificate);

// Where the kernel wants signatures: empty if the key will do, else what to do, in one line.
std::string why_key_will_not_do(const std::string& enforcement,
                                const std::optional<SigningKey>& key, const fix::Runner& run);

// The module's bytes with a signature. `headers`: the kernel's, which have its sign-file; empty:
// kmodsign does it. `scratch`: a folder in which a folder is made, and removed.
Result<std::string> signed_bytes(const std::string& bytes, const SigningKey& key,
                                 const std::string& headers, const std::string& scratch,
                                 const fix::Runner& run);

}  // namespace gdr::peermem
