// The oldest version of a function that the C library has had since it came to this processor;
// every release has it.
//
//   void* own = dlvsym(RTLD_NEXT, "dlsym", gdr::kOldestCLibraryVersion);
#pragma once

namespace gdr {

#if defined(__x86_64__)
inline constexpr char kOldestCLibraryVersion[] = "GLIBC_2.2.5";
#elif defined(__aarch64__)
inline constexpr char kOldestCLibraryVersion[] = "GLIBC_2.17";
#else
#error "gdrkit runs on x86-64 and 64-bit Arm"
#endif

}  // namespace gdr
