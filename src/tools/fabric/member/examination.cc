#include "fabric/member/examination.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/printable.h"
#include "host/inventory.h"
#include "process/start.h"

namespace gdr::fabric {
namespace {

constexpr Nanoseconds kDoctorLimit = 50 * kSecond;
constexpr std::size_t kLargestDocument = 4 << 20;

// A link that loses or repeats packets counts here. Counters of traffic and of congestion are not
// among them: they move on every host.
constexpr std::array<std::string_view, 12> kErrors = {
    "symbol_error",          "link_error_recovery", "link_downed",
    "port_rcv_errors",       "port_xmit_discards",  "local_link_integrity_errors",
    "rx_icrc_encapsulated",  "packet_seq_err",      "out_of_sequence",
    "local_ack_timeout_err", "implied_nak_seq_err", "excessive_buffer_overrun_errors"};

}  // namespace

Examination::Examination(std::string program, std::string root, std::vector<MemberRail> rails)
    : program_(std::move(program)), root_(std::move(root)), rails_(std::move(rails)) {
  for (const MemberRail& rail : rails_) before_.push_back(counters_of(rail));
}

Examination::Counters Examination::counters_of(const MemberRail& rail) const {
  if (rail.software_nic) return {};
  // "mlx5_1:2"
  const std::size_t colon = rail.nic.find(':');
  unsigned port = 1;
  if (colon != rail.nic.npos) {
    std::from_chars(rail.nic.data() + colon + 1, rail.nic.data() + rail.nic.size(), port);
  }
  Counters counters;
  for (const host::Counter& counter : host::read_counters(root_, rail.nic.substr(0, colon), port)) {
    if (std::ranges::find(kErrors, counter.name) != kErrors.end()) {
      counters[counter.name] = counter.value;
    }
  }
  return counters;
}

std::string Examination::ask_doctor() const {
  process::Start start;
  start.command = {program_, "doctor", "--json"};
  start.chosen_by = process::ChosenBy::kAccount;  // this program
  const Result<process::ChildEnd> end =
      process::run(start, process::Output::kStandardOutput, kDoctorLimit, kLargestDocument);
  return end ? first_finding(end->output) : "";
}

Examined Examination::ask() const {
  Examined answer;
  answer.doctor = ask_doctor();
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    for (const auto& [name, value] : counters_of(rails_[i])) {
      const auto before = before_[i].find(name);
      const std::int64_t moved = value - (before == before_[i].end() ? 0 : before->second);
      if (moved > 0) answer.counters.push_back({rails_[i].rail, name, moved});
    }
  }
  return answer;
}

std::string first_finding(const std::string& document) {
  const nlohmann::json root = nlohmann::json::parse(document, nullptr, false);
  if (!root.is_object()) return {};
  const auto findings = root.find("findings");
  if (findings == root.end() || !findings->is_array()) return {};
  const auto text = [](const nlohmann::json& object, const char* name) {
    const auto field = object.find(name);
    return field != object.end() && field->is_string() ? printable(field->get<std::string>()) : "";
  };
  // The doctor puts the worst first.
  for (const nlohmann::json& finding : *findings) {
    if (!finding.is_object()) continue;
    const std::string outcome = text(finding, "outcome"), summary = text(finding, "summary");
    if ((outcome != "fail" && outcome != "warn") || summary.empty()) continue;
    const std::string subject = text(finding, "subject");
    return text(finding, "check") + ": " + (subject.empty() ? "" : subject + ": ") + summary;
  }
  return {};
}

}  // namespace gdr::fabric
