// Ports of NICs that are down or not configured, and NICs without a name of their own.
#include "explain/symptoms/tables.h"

namespace gdr::explain {
namespace {

// What a listing of ports shows where one of them works.
const std::vector<const char*>& of_an_active_port() {
  static const std::vector<const char*> patterns = {"PORT_ACTIVE (4)", "state: 4: ACTIVE",
                                                    "State: Active", "==> {word} (Up)",
                                                    "state ACTIVE physical_state"};
  return patterns;
}

}  // namespace

const Symptoms& port_symptoms() {
  static const Symptoms table = {
      {.id = "port-not-active",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A NIC's port is not active",
       .texts = {{"Port number {number} state is Down"},
                 {"has no active ports, skipping"},
                 {"port not active{end}"},
                 general("is not active (state"),
                 general("port {number} is not active"),
                 general("port {number} is down"),
                 general("port is not active"),
                 general("status: no carrier"),
                 general("Port{}not in active state"),
                 general("port{}not ACTIVE"),
                 general("link is down && {nic-driver}"),
                 {"RDMA device {word} has no active port"}},
       .cause = "Down: no cable, the other end is off, the interface is not up, or a virtual "
                "function whose link the host has not enabled. Init or Armed: the InfiniBand "
                "fabric has no subnet manager.",
       .consequence = "Programs that use this port stop. A port that nobody uses may be down.",
       .checks = {"port-state"},
       .fix_now = "`ip link set dev INTERFACE up`; or another NIC (`-d`) or port (`-i`); "
                  "InfiniBand: `sudo sminfo`, and `opensm` on one host or the switch",
       .fix_for_good = "",
       .sources = {{"https://github.com/lsgunth/perftest/issues/1", Stated::kSymptom},
                   {"https://github.com/linux-rdma/perftest/blob/master/src/perftest_parameters.c",
                    Stated::kSymptom}},
       .explains = {"nic-not-usable", "rdma-device-closed"}},
      {.id = "no-active-port",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "No port of the NICs that are shown is active",
       .texts = {{"there are no active ports detected"},
                 {"no active ports detected"},
                 {"no active ports found"},
                 general("There are no active ports"),
                 general("no active port"),
                 {"no active port{}found"},
                 {"state: PORT_DOWN (1)"},
                 {"state: 1: DOWN"},
                 {"port {number} ==> {word} (Down)"},
                 {"link {word} {}state DOWN physical_state"},
                 {"State: Down", 1},
                 {"Physical state: ", 2}},
       .unless = of_an_active_port(),
       .cause =
           "The physical state says why. Polling: nothing answers at the cable's other end (no "
           "cable, the other side off or at another speed, InfiniBand against Ethernet). "
           "Disabled: the interface is not up, or the port was switched off. A virtual "
           "function is down until its link state is enabled and, on InfiniBand, it has a "
           "GUID.",
       .consequence = "No program can use these NICs; NCCL goes over TCP.",
       .checks = {"port-state", "subnet-manager"},
       .fix_now = "`ip link set dev INTERFACE up`; `sudo mlxlink -d DEVICE`; names the reason; a "
                  "virtual function: `ip link set dev PF vf N state auto` on the host, in "
                  "Kubernetes `linkState: enable` of its SriovIBNetwork; InfiniBand: `sudo sminfo`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man8/rdma-link.8.html", Stated::kSymptom},
                   {"https://github.com/deepseek-ai/DeepEP/issues/60", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/8746", Stated::kSymptom}},
       .explains = {"no-rdma-device", "nic-not-usable", "ofi-no-provider"}},
      {.id = "vf-link-down",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A port is Down although its link is up: a virtual function that the host has not "
                "enabled",
       .texts = {{"link {word} {}state DOWN physical_state LINK_UP"},
                 {"State: Down", 1},
                 {"Physical state: LinkUp", 2},
                 {"state: 1: DOWN", 3},
                 {"phys state: 5: LinkUp", 4},
                 {"state: PORT_DOWN (1)", 5},
                 {"phys_state: LINK_UP (5)", 6}},
       .unless = of_an_active_port(),
       .cause =
           "The cable is in order, and the function is held down: the host's policy for the "
           "virtual function is to follow the InfiniBand port or be disabled, it has no GUID of "
           "its own, or the subnet manager does not know virtual functions.",
       .consequence = "No program can use this function; NCCL goes over TCP.",
       .checks = {"port-state", "subnet-manager"},
       .fix_now =
           "On the host: `ip link show dev PF`; shows each function's GUID and link state; "
           "`sudo ip link set dev PF vf 0 state enable`; `sudo ip link set dev PF vf 0 "
           "node_guid 02:00:00:00:00:00:00:01`; `sudo ip link set dev PF vf 0 port_guid "
           "02:00:00:00:00:00:00:01`; Kubernetes: `linkState: enable` of the SriovIBNetwork; "
           "opensm: `virt_enabled 2` in its configuration",
       .fix_for_good = "",
       .sources =
           {{"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/269",
             Stated::kCauseAndFix},
            {"https://github.com/Mellanox/network-operator/issues/249", Stated::kSymptom}},
       .explains = {"no-active-port", "no-rdma-device", "nic-not-usable"}},
      {.id = "port-init",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The InfiniBand port has its link but no address: no subnet manager (state Init)",
       .texts = {{"Couldn't get local LID"},
                 {"Port number {number} state is Init"},
                 {"Port number {number} state is Armed"},
                 general("has invalid LID"),
                 general("LID is 0 && {fails}"),
                 general("SM lid 0x0 "),
                 general("is not active (state: INIT"),
                 general("port{}state is INIT"),
                 general("stuck in INIT && port")},
       .cause =
           "The cable is in order (the physical state is LinkUp), and nobody has given the port a "
           "LID (it is 0 or 65535). A subnet manager does that: `opensm` on one host, or the one "
           "of a switch, runs nowhere, does not see this port (another partition, a virtual "
           "function that it does not know of) or hangs.",
       .consequence = "Nothing can be sent over this port.",
       .checks = {"subnet-manager", "port-state"},
       .fix_now = "`sudo sminfo`; nothing answers: `sudo systemctl enable --now opensm` on one "
                  "host of the fabric, or the subnet manager of the switch; virtual functions: "
                  "opensm with `virt_enabled 2`; a card that was meant for Ethernet: `sudo "
                  "mlxconfig -d DEVICE set LINK_TYPE_P1=2`, and a reboot",
       .fix_for_good = "A subnet manager on two hosts or switches, so that one may fail.",
       .sources =
           {{"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/269",
             Stated::kCauseAndFix},
            {"https://github.com/linux-rdma/perftest/blob/master/src/perftest_parameters.c",
             Stated::kSymptom}},
       .explains = {"port-not-active", "no-active-port", "rdma-device-closed", "no-rdma-device"}},
      {.id = "port-init-shown",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "Ports are Init or Armed, and none active: the InfiniBand fabric has no subnet "
                "manager",
       .texts = {{"state: PORT_INIT (2)"},
                 {"state: PORT_ARMED (3)"},
                 {"state: 2: INIT"},
                 {"state: 3: ARMED"},
                 {"State: Initializing"},
                 {"link {word} {}state INIT physical_state"},
                 {"link {word} {}state ARMED physical_state"}},
       .unless = of_an_active_port(),
       .cause =
           "Link and cable are in order (the physical state is LinkUp), and nobody has given the "
           "port a LID (it is 0 or 65535). A subnet manager does that: `opensm` on one host, or "
           "the one of a switch, runs nowhere or does not see this port.",
       .consequence = "Nothing can be sent over these ports; NCCL goes over TCP.",
       .checks = {"subnet-manager", "port-state"},
       .fix_now = "`sudo sminfo`; nothing answers: `sudo systemctl enable --now opensm` on one "
                  "host of the fabric, or the subnet manager of the switch; a card that was meant "
                  "for Ethernet: `sudo mlxconfig -d DEVICE set LINK_TYPE_P1=2`, and a reboot",
       .fix_for_good = "A subnet manager on two hosts or switches, so that one may fail.",
       .sources = {{"https://docs.kernel.org/infiniband/user_mad.html", Stated::kSymptom}},
       .explains = {"port-init", "port-not-active", "no-active-port", "rdma-device-closed",
                    "no-rdma-device", "nic-not-usable"}},
      {.id = "node-guid-zero",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "A NIC has no GUID: a virtual function whose node_guid is all zeros",
       .texts = {{"node_guid: 0000:0000:0000:0000"},
                 {"Node GUID: 0x0000000000000000"},
                 {"node_guid 0000:0000:0000:0000"},
                 {"node_guid is 0000:0000:0000:0000"},
                 {"node_guid=0000:0000:0000:0000"},
                 // The table of ibv_devices.
                 {"node GUID{end}", 1},
                 {"_{number} 0000000000000000{end}", 2}},
       .cause =
           "Virtual functions are made without a GUID (InfiniBand) or MAC address (RoCE), and get "
           "one from the host or its SR-IOV operator. librdmacm finds a device by its GUID: with "
           "zeros it takes none or a wrong one, and rdma-core up to 56 may crash (`id->verbs` is "
           "NULL). On InfiniBand the port also stays down.",
       .consequence = "Programs that connect by rdma_cm fail or crash on this NIC; on InfiniBand "
                      "nothing works on it.",
       .checks = {"rdma-nics", "port-state"},
       .fix_now = "On the host, with a value of its own for each function: `sudo ip link set dev "
                  "PF vf 0 node_guid 02:00:00:00:00:00:00:01`; `sudo ip link set dev PF vf 0 "
                  "port_guid 02:00:00:00:00:00:00:01`; RoCE: `sudo ip link set dev PF vf 0 mac "
                  "02:00:00:00:00:01`; then its driver off and on: `echo ADDRESS | sudo tee "
                  "/sys/bus/pci/drivers/mlx5_core/unbind`; `echo ADDRESS | sudo tee "
                  "/sys/bus/pci/drivers/mlx5_core/bind`",
       .fix_for_good = "Kubernetes: the SR-IOV network operator or ib-kubernetes, which set them.",
       .sources = {{"https://github.com/linux-rdma/rdma-core/pull/1547", Stated::kCauseAndFix},
                   {"https://github.com/openshift/sriov-network-operator/pull/243",
                    Stated::kCauseAndFix}},
       .explains = {"no-active-port", "rdma-cm", "rdma-cm-address", "library-crash"}},
      {.id = "gid-table-empty",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title =
           "The NIC has no GIDs here: its network interface is not up, or not in this container",
       .texts = {{"n_gids_found=0{end}"}},
       .cause =
           "GIDs of RoCE are made from the addresses of the NIC's network interface. The interface "
           "is down or has no address, its link is down, or it is in another network namespace "
           "than this process.",
       .consequence = "No RoCE connection can be made from here.",
       .checks = {"roce-gid", "port-state", "devices"},
       .fix_now = "`rdma link`; `ip -br addr`; `sudo ip link set dev INTERFACE up`; `sudo ip addr "
                  "add 10.0.0.1/24 dev INTERFACE`; containers: `--network host`, or the interface "
                  "moved into the container with its RDMA device",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/networking/display/mlnxofedv24010331/rdma+over+"
                    "converged+ethernet+(roce)",
                    Stated::kCause}},
       .explains = {"wrong-gid"}},
      {.id = "gloo-gid",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "gloo's ibverbs transport takes GID index 0, which reaches nobody on RoCE",
       .texts = {{"wc->status == IBV_WC_SUCCESS", 1},
                 {"fe80:0000:0000:0000:", 2},
                 {"n_gids_found=", 2}},
       .cause = "Index 0 of the table is the link-local address (fe80) and RoCE v1. The entry with "
                "the IPv4 address, of RoCE v2, is another one.",
       .consequence = "The connection is made over TCP, and its first message is never answered.",
       .checks = {"roce-gid"},
       .fix_now = "gloo's benchmark: `--ib-index N` with the index of the IPv4 entry of VER v2; in "
                  "a program: `attr.index` of `gloo::transport::ibverbs`",
       .fix_for_good = "",
       .sources = {{"https://github.com/pytorch/gloo/issues/147", Stated::kCauseAndFix}},
       .explains = {"work-flushed", "peer-never-answers"}},
  };
  return table;
}

}  // namespace gdr::explain
