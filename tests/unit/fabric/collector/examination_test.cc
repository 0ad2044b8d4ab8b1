#include "fabric/member/examination.h"

#include <gtest/gtest.h>

namespace gdr::fabric {
namespace {

TEST(FabricExamination, FirstFindingIsTheFirstThatFailsOrWarns) {
  EXPECT_EQ(first_finding(R"({"findings": [
    {"check": "cpu", "outcome": "ok", "subject": "", "summary": "well"},
    {"check": "acs", "outcome": "warn", "subject": "0000:17:00.0", "summary": "ACS redirects"},
    {"check": "iommu", "outcome": "fail", "subject": "", "summary": "on"}]})"),
            "acs: 0000:17:00.0: ACS redirects");
}

TEST(FabricExamination, WhatIsNoDocumentOfTheDoctorTellsNothing) {
  for (const char* text : {"", "[", "[]", "{}", R"({"findings": 3})", R"({"findings": [3, {}]})",
                           R"({"findings": [{"outcome": "fail", "summary": 7}]})"}) {
    EXPECT_EQ(first_finding(text), "") << text;
  }
}

}  // namespace
}  // namespace gdr::fabric
