#include "wire/crc.h"

#include <array>
#include <atomic>

#include "wire/icrc.h"

namespace gdr::wire {
namespace {

struct Versions {
  std::array<CrcVersion, 3> list;
  std::size_t count;
};

// The compiler's own test of a feature asks the processor and, for the wide registers, the
// operating system (XGETBV), too: without its support they are not there.
Versions usable_versions() {
  Versions versions{{{{"table", crc_table}}}, 1};
#if defined(__x86_64__)
  __builtin_cpu_init();  // this may run before the constructors do
  if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return versions;
  versions.list[versions.count++] = {"pclmul", crc_pclmul};
  if (!__builtin_cpu_supports("vpclmulqdq") || !__builtin_cpu_supports("avx512f")) return versions;
  versions.list[versions.count++] = {"vpclmul", crc_vpclmul};
#endif
  return versions;
}

std::uint32_t choose_and_update(std::uint32_t state, const std::byte* bytes, std::size_t count);

// One load and an indirect call, no guard: whoever comes first replaces it by the fastest version.
constinit std::atomic<CrcFunction> chosen{choose_and_update};

std::uint32_t choose_and_update(std::uint32_t state, const std::byte* bytes, std::size_t count) {
  const CrcFunction fastest = crc_versions().back().update;
  chosen.store(fastest, std::memory_order_relaxed);
  return fastest(state, bytes, count);
}

}  // namespace

std::span<const CrcVersion> crc_versions() {
  static const Versions versions = usable_versions();
  return {versions.list.data(), versions.count};
}

std::uint32_t crc_update(std::uint32_t state, const std::byte* bytes, std::size_t count) {
  return chosen.load(std::memory_order_relaxed)(state, bytes, count);
}

}  // namespace gdr::wire
