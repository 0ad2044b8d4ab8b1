#include "fix/changes/access_control.h"

#include <gtest/gtest.h>

#include "fake_host.h"
#include "fix/apply.h"

namespace gdr::fix {
namespace {

class AccessControl : public testing::Test {
 protected:
  void SetUp() override { host_.add_switch(); }

  Record record_of(const std::string& address) {
    const auto port = read_access_control_port(machine_, address);
    EXPECT_TRUE(port) << (port ? "" : port.error().message);
    return port ? without_redirects(*port) : Record();
  }
  ChangePtr change(const Record& record) {
    Result<ChangePtr> made = change_of(record);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *std::move(made) : nullptr;
  }

  FakeHost host_;
  Machine machine_ = host_.machine();
};

TEST_F(AccessControl, ClearsTheThreeRedirectsAndKeepsTheRest) {
  for (const unsigned control : {0x1du, 0x7fu, 0x2cu, 0x04u, 0xff5fu}) {
    host_.set_word("0000:02:00.0", 0x176, control);
    const auto before = host_.all_bytes();
    const ChangePtr clear = change(record_of("0000:02:00.0"));
    ASSERT_TRUE(clear->write(machine_, clear->record().new_value));
    EXPECT_EQ(host_.word("0000:02:00.0", 0x176), control & ~0x2cu);
    auto after = host_.all_bytes();
    std::string& space = after["0000:02:00.0"];
    space[0x176] = before.at("0000:02:00.0")[0x176];
    EXPECT_EQ(after, before) << "no other byte of any function";
  }
}

TEST_F(AccessControl, KnowsTheCapabilityAtOddPlaces) {
  for (const unsigned offset : {0x104u, 0x2b4u, 0x7fcu, 0xff0u}) {
    FakeHost host;
    host.add({.address = "0000:00:01.0", .parent = "pci0000:00", .type = kRootPort, .acs = offset});
    const auto port = read_access_control_port(host.machine(), "0000:00:01.0");
    ASSERT_TRUE(port);
    EXPECT_EQ(port->offset, offset);
    EXPECT_TRUE(port->is_root_port);
  }
}

TEST_F(AccessControl, IsNothingForEndpointsAndUpstreamPorts) {
  for (const char* address : {"0000:04:00.0", "0000:05:00.0", "0000:01:00.0"}) {
    const auto port = read_access_control_port(machine_, address);
    ASSERT_FALSE(port) << address;
    EXPECT_EQ(port.error().code, ENOTSUP);
  }
}

TEST_F(AccessControl, IsNothingWithoutTheCapability) {
  host_.add({.address = "0000:00:02.0", .parent = "pci0000:00", .type = kRootPort});
  EXPECT_EQ(read_access_control_port(machine_, "0000:00:02.0").error().code, ENOTSUP);
}

TEST_F(AccessControl, SaysThatOnlyRootSeesTheRest) {
  host_.write(host_.configuration_path("0000:02:00.0"), host_.bytes("0000:02:00.0").substr(0, 64));
  const auto port = read_access_control_port(machine_, "0000:02:00.0");
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code, EACCES);
}

TEST_F(AccessControl, EndsAtListsThatRunInCircles) {
  host_.set_word("0000:02:00.0", 0x170, 0x000b);
  host_.set_word("0000:02:00.0", 0x172, 0x1000 | 1);
  EXPECT_EQ(read_access_control_port(machine_, "0000:02:00.0").error().code, EACCES);
  host_.set_word("0000:02:01.0", 0x60, 0x6001);
  EXPECT_EQ(read_access_control_port(machine_, "0000:02:01.0").error().code, EACCES);
}

TEST_F(AccessControl, WritesToNoFunctionButTheRecordedOne) {
  const Record right = record_of("0000:02:00.0");
  Record other = right;
  other.identity = "10b5:8748";
  const Result<Value> read = change(other)->read(machine_);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("but was 10b5:8748"), std::string::npos);
  other = right;
  other.path += "/0000:03:00.0";
  EXPECT_FALSE(change(other)->read(machine_));
  other = right;
  other.offset = 0x40;
  EXPECT_FALSE(change(other)->read(machine_));
  other = right;
  other.target = "0000:04:00.0";  // the GPU has the capability, too
  EXPECT_FALSE(change(other)->read(machine_));
  other = right;
  other.target = "../../../../etc";
  EXPECT_FALSE(change(other)->read(machine_));
  const auto before = host_.all_bytes();
  for (const std::string target : {"0000:04:00.0", "0000:02:01.0", "", "/", "0000:09:00.0"}) {
    other = right;
    other.target = target;
    EXPECT_FALSE(change(other)->write(machine_, other.new_value)) << target;
  }
  EXPECT_EQ(host_.all_bytes(), before);
}

TEST_F(AccessControl, IsMadeOfNoRecordThatChangesMore) {
  const Record right = record_of("0000:02:00.0");
  for (const auto& [before, after] : {std::pair("0x001d", "0x0000"),
                                      {"0x0011", "0x001d"},
                                      {"0x001d", "0x0010"},
                                      {"29", "17"},
                                      {"0x001D", "0x0011"},
                                      {"0x1d", "0x11"},
                                      {"0x0011", "0x0011"},
                                      {"0x001dz", "0x0011"}}) {
    Record record = right;
    record.old_value = before;
    record.new_value = after;
    EXPECT_FALSE(change_of(record)) << before << " " << after;
  }
}

}  // namespace
}  // namespace gdr::fix
