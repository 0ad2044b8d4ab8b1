// Where the modules of the loaded driver are found: no folder is fixed.
#include "host/registration/driver_roots.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "captured_host.h"
#include "host/registration/facts.h"

namespace gdr::host {
namespace {

constexpr const char* kKernel = "6.8.0-45-generic";
using Roots = std::vector<std::string>;

class DriverRoots : public testing::Test {
 protected:
  DriverRoots() { host_.write("proc/sys/kernel/osrelease", std::string(kKernel) + "\n"); }

  // A driver of `release` below `root`, "" or "run/nvidia/driver/".
  void install(const std::string& root, const std::string& release) {
    host_.write(root + "lib/modules/" + kKernel + "/modules.dep", "updates/nvidia.ko:\n");
    if (!release.empty()) host_.write(root + "usr/src/nvidia-" + release + "/dkms.conf", "");
  }
  void mount(const std::vector<std::string>& places) {
    std::string table = "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n";
    for (const std::string& place : places) {
      table += "99 22 0:55 / " + place + " rw,relatime shared:7 - overlay overlay rw\n";
    }
    host_.write("proc/self/mountinfo", table);
  }
  Roots roots(const std::string& loaded = "580.95.05", const std::string& given = {}) {
    return driver_roots(Files(host_.root()), loaded, given);
  }

  test::CapturedHost host_;
};

TEST_F(DriverRoots, AreTheSystemWhereNothingElseHasADriver) {
  EXPECT_EQ(roots(), Roots{""});
  install("", "580.95.05");
  EXPECT_EQ(roots(), Roots{""});
}

TEST_F(DriverRoots, AreFoundWhereverTheyAreMounted) {
  for (const std::string place :
       {"/run/nvidia/driver", "/home/kubernetes/bin/nvidia", "/opt/gpu-driver/root",
        "/run/containerd/io.containerd.runtime.v2.task/k8s.io/0a1b/rootfs",
        "/var/lib/docker/overlay2/0a1b/merged"}) {
    const test::CapturedHost other;
    other.write("proc/sys/kernel/osrelease", std::string(kKernel) + "\n");
    other.write(place.substr(1) + "/lib/modules/" + kKernel + "/modules.dep", "a/nvidia.ko:\n");
    other.write("proc/self/mountinfo",
                "99 22 0:55 / " + place + " rw,relatime - overlay overlay rw\n");
    const Roots found = driver_roots(Files(other.root()), "580.95.05", {});
    EXPECT_EQ(found, (Roots{"", place.substr(1)})) << place;
  }
}

TEST_F(DriverRoots, PutsTheLoadedReleaseFirstAndLeavesOthersOut) {
  install("", "");
  install("opt/nvidia/580/", "580.95.05");
  install("opt/nvidia/535/", "535.261.03");
  mount({"/opt/nvidia/535", "/opt/nvidia/580"});
  EXPECT_EQ(roots(), (Roots{"opt/nvidia/580", ""}));
  EXPECT_EQ(roots("535.261.03"), (Roots{"opt/nvidia/535", ""}));
  install("", "580.95.05");
  EXPECT_EQ(roots(), (Roots{"", "opt/nvidia/580"}));
}

TEST_F(DriverRoots, AreTheGivenOneFirst) {
  install("", "580.95.05");
  EXPECT_EQ(roots("580.95.05", "/srv/elsewhere"), (Roots{"srv/elsewhere", ""}));
  for (const char* bad : {"srv", "/srv/../etc", "/a;b", "/a b", "/a$(b)", ""}) {
    EXPECT_EQ(roots("580.95.05", bad), Roots{""}) << bad;
  }
}

TEST_F(DriverRoots, AreNotLookedForInWhateverIsMounted) {
  std::vector<std::string> many;
  for (int i = 0; i < 900; ++i) many.push_back("/data/" + std::to_string(i));
  for (int i = 0; i < 900; ++i) many.push_back("/run/c/" + std::to_string(i) + "/rootfs");
  mount(many);
  std::size_t asked = 0;
  const Files files(host_.root(), [&](const FileAccess&) { ++asked; });
  EXPECT_EQ(driver_roots(files, "580.95.05", {}), Roots{""});
  EXPECT_LT(asked, 400u);
}

TEST(LoadedModules, AreThoseOfEitherList) {
  const test::CapturedHost host;
  host.write("proc/modules", "nvidia_peermem 16384 0 - Live 0x0\nnvidia 9000 3 x, Live 0x0 (OE)\n");
  host.write("sys/module/ib_core/refcnt", "9\n");
  const Files files(host.root());
  EXPECT_TRUE(is_module_loaded(files, "nvidia-peermem"));
  EXPECT_TRUE(is_module_loaded(files, "nvidia"));
  EXPECT_TRUE(is_module_loaded(files, "ib_core"));
  EXPECT_FALSE(is_module_loaded(files, "nvidia_peer"));
  EXPECT_FALSE(is_module_loaded(files, "nv_peer_mem"));
}

}  // namespace
}  // namespace gdr::host
