// The release of MLNX_OFED or DOCA-OFED, and those that are known to be bad.
#include <array>
#include <charconv>

#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "MLNX_OFED 5.4-1.0.3.0 can deadlock while peer memory is taken back (bug 2696789, 'Peer-direct "
    "patch may cause deadlock due to lock inversion'): fixed in 5.4-3.0.3.0 and in 5.5-1.0.3.2, as "
    "their release notes say. Those notes name 5.4-1.0.3.0 as where it was found; older releases "
    "are not said to be free of it. nv_peer_mem from 1.2 on does not build without that fix, and "
    "1.1 is the last one for 4.9 (its README). Only a peer-memory client can meet it: with dma-buf "
    "nothing is taken back in this way. Read is the version that OFED gives its modules "
    "(/sys/module/mlx5_core/version) where its compatibility module mlx_compat is loaded; the "
    "kernel's own RDMA stack has no such release.";

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
      return {ok("",
                 summary + ", older than the fix of bug 2696789; no peer-memory client is loaded",
                 std::move(evidence))};
    }
    const bool named = *release >= kFound;
    return {warn("",
                 summary + (named ? " has bug 2696789" : " is older than the fix of bug 2696789"),
                 std::move(evidence),
                 std::string("Releasing GPU memory that a NIC has registered ") +
                     (named ? "may deadlock."
                            : "may deadlock; whether it does in this release is "
                              "not documented."),
                 {{},
                  to_do("install MLNX_OFED 5.4-3.0.3.0 or later, or DOCA-OFED; then build the "
                        "peer-memory module again")})};
  }
  return {unknown("", "the release of MLNX_OFED or DOCA-OFED is not shown",
                  {read_line(files, kVersions[0])}, to_type("ofed_info -s"))};
}

}  // namespace

const Check kOfedRelease{"ofed-release",
                         Area::kRegistration,
                         "Release of MLNX_OFED or DOCA-OFED",
                         kExplanation,
                         24,
                         Cost::kPassive,
                         find};

}  // namespace gdr::doctor
