#include "doctor/checks/gather.h"

#include <algorithm>
#include <string_view>

namespace gdr::doctor {
namespace {

// Beyond this a list is no help to a reader; all of it is in the evidence.
constexpr std::size_t kMostNamed = 8;
// A capture may claim thousands of devices that are all wrong in ways of their own.
constexpr std::size_t kMostGroups = 128, kMostEvidence = 128;

std::string list_of(const std::vector<std::string>& names, const char* between) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : between) + name;
  return list;
}

std::vector<std::string> typable_names(const std::vector<std::string>& devices) {
  std::vector<std::string> names;
  for (const std::string& device : devices) {
    const std::string name = text::is_plain_name(device) ? device : "DEVICE";
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string with(std::string text, std::string_view mark, const std::string& device) {
  for (auto at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + device.size())) {
    text.replace(at, mark.size(), device);
  }
  return text;
}

void name_devices(Action& action, const std::vector<std::string>& devices) {
  action.command = action.command.for_each(devices);
  action.by_hand = action.by_hand.for_each(devices);
  action.note = note_for(action.note, devices);
}

// "0000:12:01.0 and 15 more"
std::string few_of(const std::vector<std::string>& devices) {
  constexpr std::size_t kFew = 3;
  const std::vector<std::string> names = typable_names(devices);
  if (names.size() <= kFew) return list_of(names, " and ");
  return names.front() + " and " + std::to_string(names.size() - 1) + " more";
}

}  // namespace

bool alike(const Finding& a, const Finding& b) {
  return a.outcome == b.outcome && a.summary == b.summary && a.consequence == b.consequence &&
         a.fix == b.fix;
}

std::string subject_of(const std::vector<std::string>& subjects, const std::string& nouns,
                       Outcome outcome) {
  if (subjects.size() == 1) return subjects.front();
  if (outcome == Outcome::kOk || subjects.size() > kMostNamed) {
    return std::to_string(subjects.size()) + " " + nouns;
  }
  return list_of(subjects, ", ");
}

std::string note_for(const std::string& note, const std::vector<std::string>& devices) {
  return with(note, "{}", list_of(typable_names(devices), ", "));
}

void Gathered::add(Finding finding, const std::vector<std::string>& devices) {
  auto group = std::ranges::find_if(
      groups_, [&](const Group& known) { return alike(known.finding, finding); });
  if (group == groups_.end()) {
    if (groups_.size() == kMostGroups) {
      ++left_out_;
      return;
    }
    group = groups_.insert(group, Group{});
  }
  group->subjects.push_back(finding.subject);
  group->devices.insert(group->devices.end(), devices.begin(), devices.end());
  if (group->subjects.size() == 1) {
    group->finding = std::move(finding);
    return;
  }
  std::vector<Evidence>& evidence = group->finding.evidence;
  for (Evidence& one : finding.evidence) {
    const bool known = std::ranges::any_of(evidence, [&](const Evidence& other) {
      return other.source == one.source && other.value == one.value;
    });
    if (!known && evidence.size() < kMostEvidence) evidence.push_back(std::move(one));
  }
}

Finding Gathered::merged(const Group& group) const {
  Finding finding = group.finding;
  finding.subject = subject_of(group.subjects, nouns_, finding.outcome);
  finding.summary = with(finding.summary, "{}", few_of(group.devices));
  name_devices(finding.fix.now, group.devices);
  name_devices(finding.fix.for_good, group.devices);
  return finding;
}

Findings Gathered::take(const std::string& why_none) const {
  Findings findings = does_not_apply(why_none);
  for (const Group& group : groups_) findings.push_back(merged(group));
  if (left_out_ > 0) {
    Finding finding;
    finding.outcome = Outcome::kUnknown;
    finding.subject = std::to_string(left_out_) + " more " + nouns_;
    finding.summary = "too many to judge";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace gdr::doctor
