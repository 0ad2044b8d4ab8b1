#include "explain/json_report.h"

#include <nlohmann/json.hpp>

#include "explain/pattern.h"
#include "nccl/text_report.h"
#include "text/json_text.h"

namespace gdr::explain {
namespace {

using nlohmann::ordered_json;

ordered_json begun(const text::Provenance& provenance) {
  return text::envelope("gdr explain", 1, provenance);
}

std::string dumped(const ordered_json& document) { return text::json_text(document, 2) + "\n"; }

ordered_json sources_of(const Symptom& symptom) {
  constexpr const char* kStated[] = {"cause and fix", "cause", "fix", "symptom"};
  ordered_json list = ordered_json::array();
  for (const Source& source : symptom.sources) {
    list.push_back(
        {{"url", source.url}, {"states", kStated[static_cast<std::size_t>(source.stated)]}});
  }
  return list;
}

// The part that is the same for every text of a symptom.
void add_knowledge(const Symptom& symptom, ordered_json& entry) {
  entry["cause"] = symptom.cause;
  entry["consequence"] = symptom.consequence;
  const auto commands = [](const std::vector<Step>& fix) {
    std::vector<std::string> texts;
    for (const text::Command& command : commands_of(fix)) texts.push_back(command.text());
    return texts;
  };
  entry["fix"] = {{"now", line_of(symptom.fix_now)},
                  {"for_good", line_of(symptom.fix_for_good)},
                  {"commands_now", commands(symptom.fix_now)},
                  {"commands_for_good", commands(symptom.fix_for_good)}};
  entry["sources"] = sources_of(symptom);
}

ordered_json head_of(const Symptom& symptom) {
  ordered_json head = {{"id", symptom.id},
                       {"title", symptom.title},
                       {"program", name_of(symptom.program)},
                       {"certainty", name_of(symptom.certainty)},
                       {"other_topic", symptom.program == Program::kOther}};
  if (!symptom.site.empty()) head["site"] = symptom.site;
  return head;
}

ordered_json of(const Recognition& found, const Confirmations& confirmations) {
  const Symptom& symptom = *found.symptom;
  ordered_json entry = head_of(symptom);
  entry["because_of"] =
      found.because_of == nullptr ? ordered_json() : ordered_json(found.because_of->id);
  entry["times"] = found.times;
  ordered_json& evidence = entry["evidence"] = ordered_json::array();
  for (const Seen& seen : found.seen) {
    evidence.push_back({{"line", seen.line}, {"text", seen.text}});
  }
  add_knowledge(symptom, entry);
  ordered_json& checks = entry["checks"] = ordered_json::array();
  const auto confirmed = confirmations.find(&symptom);
  if (confirmed != confirmations.end()) {
    for (const Confirmation& each : confirmed->second) {
      checks.push_back(
          {{"id", each.check},
           {"outcome", each.outcome.empty() ? ordered_json() : ordered_json(each.outcome)},
           {"summary", each.summary}});
    }
  }
  return entry;
}

ordered_json of(const nccl::Report& report) {
  ordered_json causes = ordered_json::array();
  for (const nccl::Cause& cause : report.causes) {
    causes.push_back({{"id", cause.id},
                      {"what", cause.what},
                      {"next", cause.next.text()},
                      {"note", cause.note}});
  }
  return {{"verdict", nccl::name_of(report.verdict)},
          {"network", report.counts.network},
          {"gdrdma", report.counts.gdrdma},
          {"causes", causes}};
}

ordered_json of(const Symptom& symptom) {
  ordered_json entry = head_of(symptom);
  ordered_json& texts = entry["texts"] = ordered_json::array();
  for (const Text& text : symptom.texts) {
    texts.push_back({{"text", Pattern(text.pattern).shown()}, {"part", text.part}});
  }
  add_knowledge(symptom, entry);
  entry["checks"] = symptom.checks;
  entry["explains"] = symptom.explains;
  return entry;
}

}  // namespace

std::string to_json(const Explanation& explanation, const std::string& name,
                    const Confirmations& confirmations, const std::string& examined,
                    const nccl::Report* connections, const std::vector<const Symptom*>& guesses,
                    const text::Provenance& provenance) {
  ordered_json document = begun(provenance);
  document.update({{"file", name},
                   {"exit_status", explanation.found.empty() ? 1 : 0},
                   {"lines", explanation.lines},
                   {"nccl_log", explanation.is_nccl_log},
                   {"examined", examined}});
  const bool judged = explanation.is_nccl_log && connections != nullptr;
  document["connections"] = judged ? of(*connections) : ordered_json();
  ordered_json& list = document["symptoms"] = ordered_json::array();
  for (const Recognition& found : explanation.found) list.push_back(of(found, confirmations));
  ordered_json& near = document["guesses"] = ordered_json::array();
  for (const Symptom* symptom : guesses) near.push_back(head_of(*symptom));
  return dumped(document);
}

std::string found_json(const std::vector<const Symptom*>& found,
                       const text::Provenance& provenance) {
  ordered_json document = begun(provenance);
  ordered_json& list = document["symptoms"] = ordered_json::array();
  for (const Symptom* symptom : found) list.push_back(of(*symptom));
  return dumped(document);
}

std::string list_json(const SymptomTable& table, const text::Provenance& provenance) {
  ordered_json document = begun(provenance);
  ordered_json& list = document["symptoms"] = ordered_json::array();
  for (const Symptom& symptom : table.all()) list.push_back(of(symptom));
  return dumped(document);
}

std::string page_json(const Symptom& symptom, const text::Provenance& provenance) {
  return found_json({&symptom}, provenance);
}

}  // namespace gdr::explain
