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
  Versions versions{{{{"table", crc_table, crc_table_32}}}, 1};
#if defined(__x86_64__)
  __builtin_cpu_init();  // this may run before the constructors do
  if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return versions;
  versions.list[versions.count++] = {"pclmul", crc_pclmul, crc_pclmul_32};
  if (!__builtin_cpu_supports("vpclmulqdq") || !__builtin_cpu_supports("avx512f")) return versions;
  versions.list[versions.count++] = {"vpclmul", crc_vpclmul, crc_pclmul_32};
#endif
  return versions;
}

std::uint32_t choose_and_update(std::uint32_t state, const std::byte* bytes, std::size_t count);

std::uint32_t choose_and_add_32(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                                std::uint64_t fourth);

// One load and an indirect call, no guard: whoever comes first replaces it by the fastest version.
constinit std::atomic<CrcFunction> chosen{choose_and_update};
constinit std::atomic<CrcOf32Function> chosen_of_32{choose_and_add_32};

std::uint32_t choose_and_update(std::uint32_t state, const std::byte* bytes, std::size_t count) {
  const CrcFunction fastest = crc_versions().back().update;
  chosen.store(fastest, std::memory_order_relaxed);
  return fastest(state, bytes, count);
}

std::uint32_t choose_and_add_32(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                                std::uint64_t fourth) {
  const CrcOf32Function fastest = crc_versions().back().of_32;
  chosen_of_32.store(fastest, std::memory_order_relaxed);
  return fastest(first, second, third, fourth);
}

}  // namespace

std::span<const CrcVersion> crc_versions() {
  static const Versions versions = usable_versions();
  return {versions.list.data(), versions.count};
}

std::uint32_t crc_update(std::uint32_t state, const std::byte* bytes, std::size_t count) {
  return chosen.load(std::memory_order_relaxed)(state, bytes, count);
}

std::uint32_t crc_of_32(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                        std::uint64_t fourth) {
  return chosen_of_32.load(std::memory_order_relaxed)(first, second, third, fourth);
}

}  // namespace gdr::wire
