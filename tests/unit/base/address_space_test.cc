#include "base/address_space.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace gdr {
namespace {

constexpr rlim_t kGiB = rlim_t{1} << 30;

// The limits are of a whole process, so each has its own.
[[noreturn]] void compare_advice(const rlimit& limit, int code, const std::string& advice) {
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
  _exit(address_space_advice(code) == advice ? 0 : 1);
}
void expect_advice(rlim_t soft, rlim_t hard, int code, const std::string& advice) {
  const rlimit limit{soft, hard};
  EXPECT_EXIT(compare_advice(limit, code, advice), testing::ExitedWithCode(0), "");
}

TEST(AddressSpace, OfALimitedProcessExplainsWhyThereIsNoMemory) {
  expect_advice(16 * kGiB, RLIM_INFINITY, ENOMEM,
                "; this process may map only 16384 MiB (RLIMIT_AS): type 'ulimit -v unlimited'");
  expect_advice(16 * kGiB, 16 * kGiB, ENOMEM,
                "; this process may map only 16384 MiB (RLIMIT_AS): ask the batch system for more "
                "memory (Slurm: --mem and VSizeFactor; Grid Engine: -l h_vmem)");
}

TEST(AddressSpace, ExplainsNothingElse) {
  expect_advice(16 * kGiB, RLIM_INFINITY, EACCES, "");
  expect_advice(RLIM_INFINITY, RLIM_INFINITY, ENOMEM, "");
}

}  // namespace
}  // namespace gdr
