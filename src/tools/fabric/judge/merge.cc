// The same fault on most hosts of a leaf is the leaf's.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/judge/draft.h"
#include "fabric/judge/words.h"

namespace gdr::fabric {
namespace {

bool is_of_host(const Draft& draft) {
  const Culprit culprit = draft.finding.culprit;
  return culprit == Culprit::kHost || culprit == Culprit::kNic;
}

std::uint32_t leaf_of(const View& view, const Draft& draft) {
  return view.leaf(draft.cells.empty() ? view.cell(draft.finding.hosts.front(), 0)
                                       : draft.cells.front());
}

std::string what_they_do(Fault fault) {
  switch (fault) {
    case Fault::kWrongBytes:
      return "wrong bytes";
    case Fault::kFailed:
      return "transfers fail";
    case Fault::kDied:
      return "hosts died";
    case Fault::kHung:
      return "hosts stopped answering";
    case Fault::kNeverCame:
      return "hosts did not join the run";
    case Fault::kLeftOut:
      return "hosts cannot take part";
    case Fault::kSlow:
      return "hosts are slow";
    case Fault::kHighLatency:
      return "hosts have a high latency";
  }
  return "";
}

Draft leaf_draft(const View& view, std::uint32_t leaf, const std::vector<const Draft*>& members,
                 std::size_t hosts_of_leaf) {
  Draft draft;
  Finding& finding = draft.finding;
  finding.fault = members.front()->finding.fault;
  finding.culprit = Culprit::kLeaf;
  finding.leaf = view.leaf_name(leaf);
  finding.is_confirmed = true;
  draft.is_clearable = true;
  std::vector<double> shares;
  for (const Draft* member : members) {
    finding.hosts.push_back(member->finding.hosts.front());
    finding.is_confirmed = finding.is_confirmed && member->finding.is_confirmed;
    shares.push_back(member->finding.share);
    draft.is_clearable = draft.is_clearable && member->is_clearable;
    draft.sends = draft.sends || member->sends;
    draft.receives = draft.receives || member->receives;
    draft.cells.insert(draft.cells.end(), member->cells.begin(), member->cells.end());
  }
  std::ranges::sort(finding.hosts);
  finding.hosts.erase(std::unique(finding.hosts.begin(), finding.hosts.end()), finding.hosts.end());
  std::ranges::sort(shares);
  finding.share = shares[shares.size() / 2];
  finding.text = fmt::format("leaf {}: {} of its {} {}", finding.leaf, finding.hosts.size(),
                             hosts_of_leaf, what_they_do(finding.fault));
  if (finding.share > 0 && finding.share < 1) {
    finding.text += fmt::format(" ({} than the fleet)", slower_text(finding.share));
  }
  finding.evidence.push_back(fmt::format("They are {}.", hosts_text(view.report(), finding.hosts)));
  finding.evidence.push_back(members.front()->finding.text + ".");
  return draft;
}

}  // namespace

void merge_into_leaves(Analysis* analysis) {
  const View& view = analysis->view;
  if (view.leaves() < 2) return;
  std::vector<std::set<HostIndex>> hosts(view.leaves());
  for (std::uint32_t cell = 0; cell < view.cells(); ++cell) {
    if (view.leaf(cell) != kNoLeaf) hosts[view.leaf(cell)].insert(view.host_of(cell));
  }
  std::map<std::pair<Fault, std::uint32_t>, std::vector<std::size_t>> groups;
  for (std::size_t place = 0; place < analysis->drafts.size(); ++place) {
    const Draft& draft = analysis->drafts[place];
    if (!is_of_host(draft) || draft.finding.fault == Fault::kWrongBytes) continue;
    const std::uint32_t leaf = leaf_of(view, draft);
    if (leaf != kNoLeaf) groups[{draft.finding.fault, leaf}].push_back(place);
  }
  std::vector<Draft> leaves;
  std::set<std::size_t> merged;
  for (const auto& [key, places] : groups) {
    std::set<HostIndex> own;
    std::vector<const Draft*> members;
    for (const std::size_t place : places) {
      members.push_back(&analysis->drafts[place]);
      own.insert(members.back()->finding.hosts.front());
    }
    const std::size_t all = hosts[key.second].size();
    if (own.size() < kLeastHostsOfLeaf ||
        static_cast<double>(own.size()) < kMostOfLeaf * static_cast<double>(all)) {
      continue;
    }
    leaves.push_back(leaf_draft(view, key.second, members, all));
    merged.insert(places.begin(), places.end());
  }
  std::vector<Draft> drafts;
  for (std::size_t place = 0; place < analysis->drafts.size(); ++place) {
    if (!merged.contains(place)) drafts.push_back(std::move(analysis->drafts[place]));
  }
  std::ranges::move(leaves, std::back_inserter(drafts));
  analysis->drafts = std::move(drafts);
}

namespace {

bool is_sure_far_pair(const View& view, const Draft& draft) {
  return draft.finding.culprit == Culprit::kPair && draft.finding.fault == Fault::kSlow &&
         draft.finding.is_confirmed && draft.examples.size() == 1 &&
         view.crosses_leaves(view.report().measurements[draft.examples.front()]);
}

struct EndsAtLeaf {
  std::size_t pairs = 0;
  std::set<HostIndex> hosts;
};

// The leaf at which almost all of these pairs end, with several hosts of it; kNoLeaf: there is
// none, or two are as good.
std::uint32_t common_leaf(const View& view, const std::vector<const Draft*>& pairs) {
  constexpr double kAlmostAll = 0.8;
  std::vector<EndsAtLeaf> ends(view.leaves());
  for (const Draft* pair : pairs) {
    const Measurement& m = view.report().measurements[pair->examples.front()];
    for (const std::uint32_t cell : {view.sender(m), view.receiver(m)}) {
      ++ends[view.leaf(cell)].pairs;
      ends[view.leaf(cell)].hosts.insert(view.host_of(cell));
    }
  }
  std::uint32_t common = kNoLeaf;
  for (std::uint32_t leaf = 0; leaf < ends.size(); ++leaf) {
    if (static_cast<double>(ends[leaf].pairs) < kAlmostAll * static_cast<double>(pairs.size()) ||
        ends[leaf].hosts.size() < kLeastHostsOfLeaf) {
      continue;
    }
    if (common != kNoLeaf) return kNoLeaf;
    common = leaf;
  }
  return common;
}

}  // namespace

void merge_pairs(Analysis* analysis) {
  const View& view = analysis->view;
  std::vector<const Draft*> pairs;
  std::vector<double> shares;
  for (const Draft& draft : analysis->drafts) {
    if (!is_sure_far_pair(view, draft)) continue;
    pairs.push_back(&draft);
    shares.push_back(draft.finding.share);
  }
  if (pairs.size() < kLeastPaths) return;
  const std::uint32_t leaf = common_leaf(view, pairs);
  if (leaf == kNoLeaf && pairs.size() < kLeastSpinePaths) return;
  std::ranges::sort(shares);
  Draft draft;
  Finding& finding = draft.finding;
  finding.fault = Fault::kSlow;
  finding.is_confirmed = true;
  finding.share = shares[shares.size() / 2];
  if (leaf == kNoLeaf) {
    finding.culprit = Culprit::kSpine;
    finding.text =
        fmt::format("spine: some paths between leaves are {}", slower_text(finding.share));
  } else {
    finding.culprit = Culprit::kLeaf;
    finding.leaf = view.leaf_name(leaf);
    finding.text =
        fmt::format("leaf {}: one of its uplinks is {}", finding.leaf, slower_text(finding.share));
    std::set<HostIndex> hosts;
    for (std::uint32_t cell = 0; cell < view.cells(); ++cell) {
      if (view.leaf(cell) == leaf) hosts.insert(view.host_of(cell));
    }
    finding.hosts.assign(hosts.begin(), hosts.end());
  }
  finding.evidence.push_back(
      fmt::format("{} transfers across leaves were slow, and again when they were retested alone "
                  "on the fabric; "
                  "their hosts are as fast as the fleet with others.",
                  pairs.size()));
  finding.evidence.push_back(fmt::format("One of them: {}.", pairs.front()->finding.text));
  std::erase_if(analysis->drafts, [&](const Draft& each) { return is_sure_far_pair(view, each); });
  analysis->drafts.push_back(std::move(draft));
}

}  // namespace gdr::fabric
