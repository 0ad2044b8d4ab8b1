#include "explain/confirm.h"

#include <gtest/gtest.h>

#include "captured_host.h"
#include "doctor/checks/all.h"

namespace gdr::explain {
namespace {

Confirmations confirm_on(const test::CapturedHost& machine, std::string_view text) {
  Recogniser recogniser;
  recogniser.feed(text);
  const Explanation explanation = recogniser.finish();
  const host::Files files(machine.root());
  const host::Inventory inventory = host::take_inventory(files);
  const doctor::Host host{.files = files,
                          .inventory = inventory,
                          .environment = {},
                          .kernel_log = {},
                          .kernel_symbols = {}};
  return confirm(explanation, host);
}

const Confirmation& only(const Confirmations& confirmations, const char* symptom,
                         std::string_view check) {
  static const Confirmation none{"none", "none", "none"};
  const auto found = confirmations.find(SymptomTable::built_in().find(symptom));
  if (found == confirmations.end()) return none;
  for (const Confirmation& each : found->second) {
    if (each.check == check) return each;
  }
  return none;
}

constexpr const char* kNoMemory = "Couldn't allocate MR with error=12\n";

TEST(Confirm, TellsWhatTheCheckFindsOnThatHost) {
  const test::CapturedHost machine;
  machine.write("proc/self/limits", "Max locked memory         65536    65536    bytes\n");
  const Confirmations confirmations = confirm_on(machine, kNoMemory);
  const Confirmation& memory = only(confirmations, "locked-memory", "locked-memory");
  EXPECT_EQ(memory.outcome, "fail");
  EXPECT_NE(memory.summary.find("64 KiB"), std::string::npos) << memory.summary;
  // No GPU, so no window of one.
  EXPECT_EQ(only(confirmations, "locked-memory", "gpu-bar1").outcome, "");
}

TEST(Confirm, TellsWhenTheHostIsNotTheCause) {
  const test::CapturedHost machine;
  machine.write("proc/self/limits", "Max locked memory         unlimited    unlimited    bytes\n");
  EXPECT_EQ(only(confirm_on(machine, kNoMemory), "locked-memory", "locked-memory").outcome, "ok");
}

TEST(Confirm, AsksNothingOfWhatFollowsFromAnotherSymptom) {
  const test::CapturedHost machine;
  const Confirmations confirmations =
      confirm_on(machine, std::string(kNoMemory) + "Couldn't allocate MR\n");
  EXPECT_EQ(confirmations.count(SymptomTable::built_in().find("locked-memory")), 1u);
  EXPECT_EQ(confirmations.count(SymptomTable::built_in().find("mr-refused")), 0u);
}

TEST(Confirm, AsksNothingWhereNothingWasRecognised) {
  const test::CapturedHost machine;
  EXPECT_TRUE(confirm_on(machine, "all is well\n").empty());
  EXPECT_TRUE(confirm_on(machine, "NCCL WARN Got completion with error 5, opcode 0\n").empty());
}

}  // namespace
}  // namespace gdr::explain
