#include "explain/text_report.h"

#include <gtest/gtest.h>

#include "explained.h"

namespace gdr::explain {
namespace {

TEST(ExplainText, ShowsSymptomLineCauseFixAndSource) {
  const std::string text =
      to_text(explain("Couldn't allocate MR with error=14\n"), "a.log", {}, "");
  EXPECT_TRUE(text.starts_with("a.log: 1 symptom in 1 line\n\n1  Memory cannot be registered"))
      << text;
  EXPECT_TRUE(says(text, "line 1: Couldn't allocate MR with error=14\n"));
  EXPECT_TRUE(says(text, "no peer-memory client knew it"));
  EXPECT_TRUE(says(text, "sudo modprobe nvidia-peermem"));
  EXPECT_TRUE(says(text, "https://github.com/linux-rdma/perftest/issues/126"));
  EXPECT_TRUE(says(text, "gdr doctor --explain peer-memory"));
}

TEST(ExplainText, ShowsWhatTheChecksFoundHere) {
  const Explanation explanation = explain("Couldn't allocate MR with error=14\n");
  const Confirmations confirmations = {
      {SymptomTable::built_in().find("mr-bad-address"),
       {{"peer-memory", "fail", "nvidia_peermem is not loaded"}, {"registration-path", "", ""}}}};
  const std::string text = to_text(explanation, "a.log", confirmations, "node7");
  EXPECT_TRUE(
      text.starts_with("a.log: 1 symptom in 1 line; 'here' shows what gdr doctor found on node7\n"))
      << text;
  EXPECT_TRUE(says(text, "  here       fail     peer-memory: nvidia_peermem is not loaded\n"))
      << text;
  EXPECT_TRUE(says(text, "             not applicable: registration-path\n"));
  EXPECT_FALSE(says(text, "--explain"));
}

TEST(ExplainText, ShowsWhatFollowsBelowItsCause) {
  const std::string text =
      to_text(explain("could not insert 'nvidia_peermem': Invalid argument\n"
                      "disagrees about version of symbol ib_register_peer_memory_client\n"),
              "a.log", {}, "");
  EXPECT_TRUE(text.starts_with("a.log: 1 symptom in 2 lines\n")) << text;
  EXPECT_TRUE(says(text,
                   "also seen  The peer-memory module will not load: Invalid argument  "
                   "(line 1; follows from this)\n"))
      << text;
}

TEST(ExplainText, CountsTheLinesThatItDoesNotShow) {
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += "Port number " + std::to_string(i) + " state is Down\n";
  const std::string text = to_text(explain(lines), "a.log", {}, "");
  EXPECT_TRUE(says(text, "line 3: Port number 2 state is Down\n"));
  EXPECT_FALSE(says(text, "Port number 3"));
  EXPECT_TRUE(says(text, "and 2 more such lines\n")) << text;
}

TEST(ExplainText, PageAndListHaveEverySymptom) {
  const std::string list = to_list(SymptomTable::built_in());
  for (const Symptom& symptom : SymptomTable::built_in().all()) {
    EXPECT_TRUE(says(list, symptom.title)) << symptom.id;
    const std::string page = to_page(symptom);
    EXPECT_TRUE(says(page, symptom.id));
    std::string cause = symptom.cause;
    std::erase(cause, '`');
    EXPECT_TRUE(says(page, cause)) << symptom.id;
    EXPECT_FALSE(says(page, "`")) << symptom.id;
    for (const Source& source : symptom.sources) EXPECT_TRUE(says(page, source.url));
  }
}

}  // namespace
}  // namespace gdr::explain
