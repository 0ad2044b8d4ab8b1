#include "fabric/report.h"

#include <gtest/gtest.h>

namespace gdr::fabric {
namespace {

TEST(FabricReport, RunThatWasInterruptedIsNeitherGoodNorBad) {
  Report report;
  report.rounds_planned = report.rounds_done = 3;
  EXPECT_EQ(exit_status(report), 3);  // nothing was compared
  report.measurements.emplace_back();
  EXPECT_EQ(exit_status(report), 0);
  report.is_interrupted = true;
  EXPECT_EQ(exit_status(report), 3);
  report.findings.emplace_back();
  EXPECT_EQ(exit_status(report), 1);
}

TEST(FabricReport, OneStandInMakesASimulation) {
  Report report;
  report.hosts.resize(2);
  report.hosts[0].rails.resize(1);
  report.hosts[1].rails.resize(2);
  EXPECT_FALSE(is_simulation(report));
  report.hosts[1].rails[1].software_gpu = true;
  EXPECT_TRUE(is_simulation(report));
}

}  // namespace
}  // namespace gdr::fabric
