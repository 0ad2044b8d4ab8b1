#include "fix/plan.h"

#include <algorithm>
#include <array>

#include "fix/changes/persistence.h"
#include "fix/changes/text_file.h"
#include "fix/topics/topics.h"

namespace gdr::fix {

bool Wishes::named(const std::string& topic) const {
  return std::find(topics.begin(), topics.end(), topic) != topics.end();
}

void Proposal::propose(const Result<Record>& record, const std::string& refusal) {
  if (!record) {
    refusals.push_back(record.error().message);
    return;
  }
  if (record->old_value == record->new_value) return;  // as it should be
  Result<ChangePtr> change = change_of(*record);
  if (!change) {
    refusals.push_back(change.error().message);
    return;
  }
  changes.push_back({*std::move(change), refusal});
}

bool Proposal::is_refused() const {
  return !refusals.empty() || std::any_of(changes.begin(), changes.end(),
                                          [](const Planned& one) { return !one.refusal.empty(); });
}

const std::vector<Topic>& all_topics() {
  // In the order in which the changes are made.
  static const std::vector<Topic> topics = {
      {"acs", "PCIe Access Control Services between GPU and NIC", plan_access_control},
      {"peer-memory", "kernel module that lets NICs reach GPU memory", plan_peer_memory},
      {"locked-memory", "locked-memory limit", plan_locked_memory},
      {"max-read-request", "PCIe read request size of NICs", plan_max_read_request},
      {"persistence", "GPU drivers stay initialised between programs", plan_persistence},
      {"roce", "settings of RoCE ports", plan_roce}};
  return topics;
}

std::string topic_names() {
  std::string names;
  for (const Topic& topic : all_topics())
    names += (names.empty() ? "" : ", ") + std::string(topic.id);
  return names;
}

bool is_of_peermem(const Record& record) {
  if (record.kind == kModuleFile) return true;
  if (record.kind == kService) return record.target == kPeermemService;
  constexpr std::array kFiles = {kPeermemModulesFile, kPeermemDepmodFile, kPeermemModprobeFile,
                                 kPeermemUnitFile};
  return record.kind == kTextFile && std::ranges::find(kFiles, record.target) != kFiles.end();
}

std::string topic_of(const Record& record) {
  if (is_of_peermem(record)) return "peer-memory";
  if (record.kind == kAccessControl) return "acs";
  if (record.kind == kModule) return "peer-memory";
  if (record.kind == kMaxReadRequest) return "max-read-request";
  if (record.kind == kPersistenceMode || record.kind == kService) return "persistence";
  if (record.kind != kTextFile) return {};
  if (record.target == kGrubFile) return "acs";
  if (record.target == kUdevFile) return "max-read-request";
  return record.target == kModulesFile ? "peer-memory" : "locked-memory";
}

std::vector<Proposal> make_plan(const Situation& situation) {
  std::vector<Proposal> plan;
  for (const Topic& topic : all_topics()) {
    if (!situation.wishes.topics.empty() && !situation.wishes.named(topic.id)) continue;
    Proposal proposal;
    proposal.topic = topic.id;
    proposal.title = topic.title;
    topic.plan(situation, proposal);
    plan.push_back(std::move(proposal));
  }
  return plan;
}

}  // namespace gdr::fix
