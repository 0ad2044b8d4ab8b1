#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

constexpr const char* kNet = "sys/class/net/ens1np0/";

void give_ecn(Machine& machine, const std::string& enabled) {
  for (const char* point : {"np", "rp"}) {
    for (int i = 0; i < 8; ++i) {
      machine.write(std::string(kNet) + "ecn/roce_" + point + "/enable/" + std::to_string(i),
                    i == 3 ? enabled : "0\n");
    }
  }
}

TEST(LosslessCheck, IsUnknownWithoutSysfsEntriesAndNamesTheCommandsThatTell) {
  Machine machine;
  machine.add_switch(1);
  const Findings found = find(kLossless, machine);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_EQ(found[0].fix.now.command.text(), "mlnx_qos -i ens1np0\ndcb pfc show dev ens1np0");
}

TEST(LosslessCheck, IsWellWithEcnAndTrustInDscp) {
  Machine machine;
  machine.add_switch(1);
  machine.write_all();
  give_ecn(machine, "1\n");
  machine.write(std::string(kNet) + "qos/trust", "dscp\n");
  const Findings found = find(kLossless, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "priority 3"));
}

TEST(LosslessCheck, WarnsWithoutEcnOrTrustInDscp) {
  Machine machine;
  machine.add_switch(1);
  machine.write_all();
  give_ecn(machine, "0\n");
  EXPECT_TRUE(says(find(kLossless, machine), "ECN is off for every priority"));
  give_ecn(machine, "1\n");
  machine.write(std::string(kNet) + "qos/trust", "pcp\n");
  const Findings found = find(kLossless, machine);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_EQ(found[0].fix.now.command.text(), "sudo mlnx_qos -i ens1np0 --trust dscp");
}

constexpr const char* kPort = "sys/class/infiniband/mlx5_1/ports/1/";

TEST(PortErrorsCheck, WarnsWhereMoreThanOnePacketInAMillionIsLost) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kPortErrors, machine)), "ok");
  machine.write(std::string(kPort) + "hw_counters/local_ack_timeout_err", "1900\n");
  EXPECT_EQ(outcomes(test::find_below(kPortErrors, machine.root())), "ok");
  machine.write(std::string(kPort) + "hw_counters/out_of_buffer", "250000\n");
  const Findings found = test::find_below(kPortErrors, machine.root());
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_EQ(found[0].summary, "out_of_buffer: 250000 of 2e+09 packets");
  EXPECT_EQ(found[0].evidence.size(), 2u);
}

TEST(PortErrorsCheck, TakesNoCounterForMoreThanItIs) {
  Machine machine;
  machine.add_switch(1);
  machine.write_all();
  machine.write(std::string(kPort) + "counters/port_rcv_packets", "9223372036854775807\n");
  machine.write(std::string(kPort) + "counters/port_xmit_packets", "9223372036854775807\n");
  machine.write(std::string(kPort) + "hw_counters/packet_seq_err", "-5\n");
  EXPECT_EQ(outcomes(test::find_below(kPortErrors, machine.root())), "ok");
}

TEST(PortErrorsCheck, IsSilentWithoutCounters) {
  Machine machine;
  machine.add_switch(1);
  machine.write_all();
  for (const char* folder : {"counters", "hw_counters"}) {
    std::filesystem::remove_all(machine.root() + "/" + kPort + folder);
  }
  EXPECT_EQ(outcomes(test::find_below(kPortErrors, machine.root())), "");
}

}  // namespace
}  // namespace gdr::doctor
