#include "doctor/json_report.h"

#include <nlohmann/json.hpp>

#include "text/json_text.h"

namespace gdr::doctor {
namespace {

using nlohmann::ordered_json;

ordered_json action_json(const Action& action) {
  return {{"command", action.command.text()},
          {"note", action.note},
          {"by_hand", action.by_hand.text()}};
}

ordered_json finding_json(const Line& line) {
  const Finding& finding = *line.finding;
  ordered_json evidence = ordered_json::array();
  for (const Evidence& one : finding.evidence) {
    evidence.push_back({{"source", one.source}, {"value", one.value}});
  }
  return {
      {"check", line.check->id},
      {"area", name_of(line.check->area)},
      {"outcome", name_of(finding.outcome)},
      {"subject", finding.subject},
      {"summary", finding.summary},
      {"consequence", finding.consequence},
      {"fix",
       {{"now", action_json(finding.fix.now)}, {"for_good", action_json(finding.fix.for_good)}}},
      {"evidence", std::move(evidence)}};
}

ordered_json check_json(const Judgement& judgement) {
  const Check& check = *judgement.check;
  ordered_json json = {{"check", check.id},
                       {"area", name_of(check.area)},
                       {"title", check.title},
                       {"probe", check.cost == Cost::kProbe},
                       {"carried_out", judgement.left_out.empty()},
                       {"applies", !judgement.findings.empty()},
                       {"does_not_apply", judgement.findings.does_not_apply},
                       {"seconds", judgement.seconds}};
  if (!judgement.left_out.empty()) {
    json["left_out"] = judgement.left_out;
    json["applies"] = nullptr;
    json["seconds"] = nullptr;
  }
  return json;
}

ordered_json container_json(const ContainerView& view) {
  ordered_json facts = ordered_json::object();
  for (const auto& [name, value] : view.facts) facts[name] = value;
  ordered_json start = ordered_json::object();
  for (const auto& [name, value] : view.start_with) start[name] = value;
  return {{"in_container", view.in_container}, {"facts", facts}, {"start_with", start}};
}

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance,
                    const ContainerView* container) {
  const Counts counts = count(report);
  ordered_json findings = ordered_json::array(), checks = ordered_json::array();
  for (const Line& line : in_order(report)) findings.push_back(finding_json(line));
  for (const Judgement& judgement : report.judgements) checks.push_back(check_json(judgement));
  ordered_json document = text::envelope("gdr doctor", 1, provenance);
  document.update(
      {{"captured", report.source.empty() ? ordered_json() : ordered_json(report.source)},
       {"exit_status", exit_status(counts)},
       {"counts",
        {{"ok", counts.ok},
         {"warn", counts.warn},
         {"fail", counts.fail},
         {"unknown", counts.unknown},
         {"checks_that_do_not_apply", counts.does_not_apply},
         {"checks_left_out", counts.left_out}}},
       {"passive_seconds", seconds_of(report, Cost::kPassive)},
       {"probe_seconds", seconds_of(report, Cost::kProbe)},
       {"not_shown", report.unseen},
       {"notes", report.notes},
       {"findings", std::move(findings)},
       {"checks", std::move(checks)}});
  if (container != nullptr) document["container"] = container_json(*container);
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::doctor
