// Huge pages, which GPUDirect RDMA does not need.
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace huge_pages_check {

constexpr const char* kExplanation =
    "GPUDirect RDMA does not need huge pages: GPU memory has its own pages. Host buffers on huge "
    "pages save a NIC translations, and some programs ask for them. This check is for information "
    "and never warns. It reads /sys/kernel/mm/hugepages.";

Findings find(const Host& host) {
  const std::string folder = "sys/kernel/mm/hugepages";
  Evidences evidence;
  std::string text;
  for (const std::string& name : host.files.entries(folder)) {
    const std::string path = folder + "/" + name + "/nr_hugepages";
    const long pages = host.files.number(path).value_or(0);
    evidence.push_back(read_line(host.files, path));
    if (pages > 0) text += (text.empty() ? "" : ", ") + std::to_string(pages) + " " + name;
  }
  if (evidence.empty()) return does_not_apply("the kernel shows no huge pages");
  return {ok("", text.empty() ? "no huge pages reserved; none are needed" : "set aside: " + text,
             std::move(evidence))};
}

}  // namespace huge_pages_check

const Check kHugePages{
    "huge-pages", Area::kProcess, "Huge pages, for information", huge_pages_check::kExplanation,
    95,           Cost::kPassive, huge_pages_check::find};

}  // namespace gdr::doctor
