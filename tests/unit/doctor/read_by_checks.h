// What most checks read, laid out for the tests of captures.
#pragma once

#include "machine.h"

namespace gdr::doctor {

inline void lay_out_what_checks_read(test::Machine& machine) {
  machine.find("0000:37:02.0").acs_control = 0x1d;
  machine.find("0000:19:00.0").group = 41;
  machine.write("sys/kernel/iommu_groups/41/type", "DMA\n");
  machine.write("sys/class/iommu/dmar0/name", "dmar0\n");
  machine.write("sys/module/nvidia/version", "580.95.05\n");
  machine.write("proc/77/limits", "Max locked memory         8388608      8388608     bytes\n");
  machine.link("proc/self", "proc/77");
  machine.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
  machine.write("sys/module/mlx_compat/refcnt", "9\n");
  machine.write("sys/module/mlx5_core/version", "5.4-1.0.3\n");
  machine.write("sys/module/gdrdrv/version", "2.4\n");
  machine.write("dev/nvidiactl", "");
  machine.write("sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.procs", "812\n");
  machine.write("usr/lib64/libgdrapi.so.2", "");
  machine.write("var/lib/kubelet/config.yaml", "");
  machine.write("boot/config-6.8.0-45-generic",
                "CONFIG_PCI_P2PDMA=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set\n");
  machine.write("etc/infiniband/nv_peer_mem.conf", "ONBOOT=yes\n");
  machine.write("etc/modules-load.d/nv_peer_mem.conf", "nv_peer_mem\n");
  machine.write("proc/sys/vm/max_map_count", "32768\n");
  machine.write(
      "proc/77/net/route",
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "ens1np0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
      "ens2np0\t0000A8C0\t00000000\t0001\t0\t0\t101\t00FFFFFF\t0\t0\t0\n");
  for (const char* name : {"all", "ens1np0", "ens2np0"}) {
    const std::string place = std::string("proc/sys/net/ipv4/conf/") + name;
    machine.write(place + "/arp_ignore", "0\n");
    machine.write(place + "/arp_announce", "0\n");
    machine.write(place + "/rp_filter", "1\n");
  }
}

}  // namespace gdr::doctor
