// The running kernel's version, as far as it decides what works.
//
//   if (kernel_version(files) < KernelVersion{6, 11}) ...
#pragma once

#include <compare>

#include "host/files.h"

namespace gdr::fix {

struct KernelVersion {
  unsigned major = 0, minor = 0;  // 0.0: not known
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a null pointer in the generated code
  auto operator<=>(const KernelVersion&) const = default;
};

KernelVersion kernel_version(const host::Files& files);

}  // namespace gdr::fix
