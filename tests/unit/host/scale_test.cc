// Machines of a size that none has: in time that grows as they do.
#include <gtest/gtest.h>

#include <cstdio>

#include "captured_host.h"
#include "host/access_control.h"
#include "host/grade.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"
#include "processor_time.h"

namespace gdr::host {
namespace {

// Ten times as many take ten times as long; a hundred times, where each looks at all others.
constexpr double kMostForTenTimes = 40;

// Processor time of reading so many, in terms of what a tenth of them takes.
template <typename Make, typename Read>
double times_a_tenth(unsigned functions, const Make& make, const Read& read) {
  const auto few = make(functions / 10), many = make(functions);
  const Nanoseconds tenth = test::processor_time_of([&] { read(few, functions / 10); });
  return static_cast<double>(test::processor_time_of([&] { read(many, functions); })) /
         static_cast<double>(tenth);
}

constexpr unsigned kMostAccesses = 40;  // to files, for a function

std::string hex(unsigned value, int digits) {
  char text[16];
  std::snprintf(text, sizeof(text), "%0*x", digits, value);
  return text;
}

// Domains with 32 devices of 8 functions on each bus.
std::string address(unsigned i) {
  return hex(i >> 16, 4) + ":" + hex(i >> 8 & 0xff, 2) + ":" + hex(i >> 3 & 0x1f, 2) + "." +
         hex(i & 7, 1);
}

TEST(Scale, FunctionsOfLspciTakeTimeInProportionToTheirNumber) {
  const auto make = [](unsigned functions) {
    std::string text;
    for (unsigned i = 0; i < functions; ++i) {
      text += address(i) +
              (i % 2 ? " 3D controller: NVIDIA Corporation Device 2330\n"
                     : " Ethernet controller: Mellanox Technologies MT2910 Family "
                       "[ConnectX-7]\n") +
              "\tControl: I/O-\n\tNUMA node: 0\n";
    }
    return text;
  };
  const auto read = [](const std::string& text, unsigned functions) {
    const auto machine = read_lspci({{"lspci.txt", text}});
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->gpus.size() + machine->nics.size(), functions);
  };
  EXPECT_LT(times_a_tenth(10'000, make, read), kMostForTenTimes);
}

TEST(Scale, FunctionsOfNcclTakeTimeInProportionToTheirNumber) {
  const auto make = [](unsigned functions) {
    std::string text = "<system><cpu numaid='0'>";
    for (unsigned i = 0; i < functions; ++i) {
      text += "<pci busid='" + address(i) + "' class='0x030200'><gpu>";
      text += "<nvlink target='fffffff:ffff:ff' count='18' tclass='0x068000'/></gpu></pci>";
    }
    return text + "</cpu></system>";
  };
  const auto read = [](const std::string& text, unsigned functions) {
    const auto machine = read_nccl_xml(text);
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->gpus.size(), functions);
  };
  EXPECT_LT(times_a_tenth(10'000, make, read), kMostForTenTimes);
}

TEST(Scale, MoreFunctionsThanAMachineCanHaveAreAnError) {
  std::string text;
  for (unsigned i = 0; i < 30'000; ++i) text += address(i) + " Bridge: x\n\tControl: I/O-\n";
  const auto machine = read_lspci({{"lspci.txt", text}});
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().message.find("lspci.txt: more PCI functions"), std::string::npos);
}

// Eight GPUs and eight NICs below switches among 300 functions: what is read before any answer.
TEST(Scale, AMachineOfThreeHundredFunctionsIsReadWithSomeFilesForEach) {
  test::CapturedHost host;
  const std::string config(4096, '\0');
  for (unsigned root = 0; root < 8; ++root) {
    const std::string bus = "0000:" + hex(root * 16, 2);
    const std::string port = bus + ":01.0", upstream = "0000:" + hex(root * 16 + 1, 2) + ":00.0";
    host.bridge(port, "pci" + bus);
    host.bridge(upstream, port);
    for (unsigned i = 0; i < 4; ++i) {
      const std::string down = "0000:" + hex(root * 16 + 2, 2) + ":0" + hex(i, 1) + ".0";
      const std::string device = "0000:" + hex(root * 16 + 3 + i, 2) + ":00.0";
      host.bridge(down, upstream);
      host.function({device, down, "32.0", "32.0", 16, 16, 0, 256, 4096, true});
      if (i == 0) host.nic("mlx5_" + std::to_string(root), device);
      if (i == 1) host.write("sys/bus/pci/devices/" + device + "/vendor", "0x10de\n");
      if (i == 1) host.write("sys/bus/pci/devices/" + device + "/class", "0x030200\n");
    }
    for (unsigned i = 0; i < 28; ++i) {
      host.function({bus + ":" + hex(2 + i, 2) + ".0", "pci" + bus, "", "", 0, 0, 0, 256, 128});
    }
  }
  unsigned accesses = 0;
  const Files files(host.root(), [&](const FileAccess&) { ++accesses; });
  const Inventory machine = take_inventory(files);
  EXPECT_EQ(machine.gpus.size(), 8u);
  EXPECT_EQ(machine.nics.size(), 8u);
  EXPECT_GT(machine.pci.functions().size(), 300u);
  EXPECT_LT(accesses, kMostAccesses * machine.pci.functions().size());
  std::printf("%u accesses for %zu functions\n", accesses, machine.pci.functions().size());
}

// 30 bridges above each other with devices below the last, again and again.
std::size_t add_deep_tree(test::CapturedHost& host, unsigned functions, const std::string& speed) {
  unsigned i = 0;
  while (i < functions) {
    std::string above = "pci" + address(i).substr(0, 7);
    for (unsigned depth = 0; depth < 30 && i < functions; ++depth) {
      host.function({address(i), above, speed, speed, 16, 16});
      above = address(i++);
    }
    for (unsigned k = 0; k < 6 && i < functions; ++k) {
      host.function({address(i++), above, speed, speed, 16, 16});
    }
  }
  return i;
}

// Every function's way asks for the links of all the ports above it.
TEST(Scale, APortIsAskedForItsLinkOnceHoweverManyAreBelowIt) {
  test::CapturedHost host;
  add_deep_tree(host, 36, "32.0");
  std::map<std::string, unsigned> asked;
  const Files files(host.root(), [&](const FileAccess& access) {
    if (access.path.ends_with("/max_link_speed")) ++asked[access.path];
  });
  const Inventory machine = take_inventory(files);
  EXPECT_EQ(machine.pci.find(address(35))->links.size(), 15u);
  EXPECT_EQ(machine.pci.find(address(35))->links.back().most_speed, 32);
  EXPECT_GT(asked.size(), 30u);
  for (const auto& [path, times] : asked) EXPECT_EQ(times, 1u) << path;
}

TEST(Scale, AThousandFunctionsInADeepTreeAreReadWithSomeFilesForEach) {
  test::CapturedHost host;
  add_deep_tree(host, 1000, "");
  unsigned accesses = 0;
  const Files files(host.root(), [&](const FileAccess&) { ++accesses; });
  const Inventory machine = take_inventory(files);
  EXPECT_EQ(machine.pci.functions().size(), 1000u);
  EXPECT_LT(accesses, kMostAccesses * 1000);
  std::printf("%u accesses\n", accesses);
}

}  // namespace
}  // namespace gdr::host
