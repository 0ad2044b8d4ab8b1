// fail: what cannot be measured as it is said to be ends the program, with one line and status 1.
// The other process ends with it.
//
//   if (cq == nullptr) fail("ibv_create_cq: %s", std::strerror(errno));
#pragma once

namespace gdr::bench {

constexpr char kProgram[] = "bench_gpu_path";

[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char* format, ...);

}  // namespace gdr::bench
