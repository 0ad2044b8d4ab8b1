// The release of MLNX_OFED or DOCA-OFED, and those that are known to be bad.
#include <array>
#include <charconv>

#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace ofed_release_check {

constexpr const char* kExplanation =
    "MLNX_OFED 5.4-1.0.3.0 can deadlock while peer memory is revoked (bug 2696789, 'Peer-direct "
    "patch may cause deadlock due to lock inversion'). The release notes of 5.4-3.0.3.0 and "
    "5.5-1.0.3.2 report the fix. They say that the bug was found in 5.4-1.0.3.0, not that older "
    "releases are free of it. nv_peer_mem 1.2 and later do not build without the fix; 1.1 is the "
    "last one for 4.9 (its README). Only peer memory is affected; dma-buf does not revoke memory "
    "in this way. The check reads the version of OFED's modules (/sys/module/mlx5_core/version) if "
    "OFED's compatibility module mlx_compat is loaded; the kernel's own RDMA stack has no such "
    "release.";

constexpr const char* kCompatibility = "sys/module/mlx_compat";
constexpr const char* kVersions[] = {"sys/module/mlx5_core/version",
                                     "sys/module/mlx_compat/version", "sys/module/ib_core/version"};

using Numbers = std::array<unsigned, 5>;
constexpr Numbers kFound = {5, 4, 1, 0, 3}, kFixed = {5, 4, 3, 0, 3};

// "5.4-1.0.3", "24.10-1.1.4.0.105": the first five numbers.
std::optional<Numbers> parse(const std::string& text) {
  Numbers numbers{};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (count < numbers.size()) {
    const auto read = std::from_chars(at, end, numbers[count]);
    if (read.ec != std::errc()) break;
    ++count;
    if (read.ptr == end || (*read.ptr != '.' && *read.ptr != '-')) break;
    at = read.ptr + 1;
  }
  return count < 3 ? std::nullopt : std::optional(numbers);
}

Findings find(const Host& host) {
  const host::Files& files = host.files;
  if (host.inventory.nics.empty()) return no_nic();
  if (!shows(files, "sys/module")) {
    return {not_shown(files, "sys/module", "which RDMA stack is loaded")};
  }
  if (!files.exists(kCompatibility)) {
    return does_not_apply("the RDMA stack is not MLNX_OFED or DOCA-OFED");
  }
  for (const char* path : kVersions) {
    const std::string text = files.line(path);
    const auto release = parse(text);
    if (!release) continue;
    Evidences evidence = {{std::string("/") + path, text}};
    const std::string summary = "OFED " + text;
    if (*release >= kFixed) return {ok("", summary, std::move(evidence))};
    if (!find_ways(host).peer_memory) {
      return {ok(
          "", summary + ", older than the fix of bug 2696789; but no peer-memory module is loaded",
          std::move(evidence))};
    }
    const bool named = *release >= kFound;
    return {warn("",
                 summary + (named ? " has bug 2696789" : " is older than the fix of bug 2696789"),
                 std::move(evidence),
                 std::string("Releasing GPU memory that is registered with a NIC ") +
                     (named ? "may deadlock."
                            : "may deadlock; it is not documented whether this release does."),
                 {{},
                  to_do("install MLNX_OFED 5.4-3.0.3.0 or later, or DOCA-OFED; then rebuild the "
                        "peer-memory module")})};
  }
  return {unknown("", "cannot see the release of MLNX_OFED or DOCA-OFED",
                  {read_line(files, kVersions[0])}, to_type("ofed_info -s"))};
}

}  // namespace ofed_release_check

const Check kOfedRelease{"ofed-release",
                         Area::kRegistration,
                         "Release of MLNX_OFED or DOCA-OFED",
                         ofed_release_check::kExplanation,
                         24,
                         Cost::kPassive,
                         ofed_release_check::find};

}  // namespace gdr::doctor
