// What a check says of a machine.
//
//   const Findings found = find(kMtu, machine);
//   EXPECT_EQ(outcomes(found), "warn");
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "doctor/checks/all.h"
#include "doctor/host.h"
#include "machine.h"
#include "pasteable.h"

namespace gdr::doctor::test {

using gdr::test::Machine;
using Environment = std::map<std::string, std::string>;

// What holds for whatever any check finds.
inline Findings with_reason_and_commands(const Check& check, Findings findings) {
  EXPECT_TRUE(pasteable(findings)) << check.id;
  EXPECT_FALSE(findings.empty() && findings.does_not_apply.empty())
      << check.id << " does not apply, and gives no reason";
  return findings;
}

inline Findings find_below(const Check& check, const std::string& root,
                           Environment environment = {}) {
  const host::Files files(root);
  const host::Inventory inventory = host::take_inventory(files);
  const Host host{.files = files,
                  .inventory = inventory,
                  .environment = std::move(environment),
                  .kernel_log = {},
                  .kernel_symbols = {}};
  return with_reason_and_commands(check, check.find(host));
}

inline Findings find(const Check& check, Machine& machine, Environment environment = {}) {
  machine.write_all();
  return find_below(check, machine.root(), std::move(environment));
}

// "ok", "fail unknown"; empty: it does not apply.
inline std::string outcomes(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += (text.empty() ? "" : " ") + std::string(name_of(finding.outcome));
  }
  return text;
}

inline std::string said(const Action& action) {
  return action.command.text() + "|" + action.note + "|" + action.by_hand.text();
}

// All that there is to read in them; for what a test claims they say.
inline std::string said(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.subject + "|" + finding.summary + "|" + finding.consequence + "|" +
            said(finding.fix.now) + "|" + said(finding.fix.for_good);
    for (const Evidence& evidence : finding.evidence) {
      text += "|" + evidence.source + "=" + evidence.value;
    }
    text += "\n";
  }
  return text;
}

inline ::testing::AssertionResult says(const Findings& findings, const std::string& text) {
  const std::string all = said(findings);
  if (all.find(text) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' is not in: " << all;
}

}  // namespace gdr::doctor::test
