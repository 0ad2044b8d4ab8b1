// Connections that the connection manager (rdma_cm) makes: where they end, and at which error.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& rdma_cm_symptoms() {
  static const Symptoms table = {
      {.id = "rdma-cm-address",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title =
           "The address is not one of an RDMA NIC of this host: rdma_cm finds no device for it",
       .texts = {{"Failed to bind server address"},
                 {"rdma_bind_addr && {fails}"},
                 {"rdma_bind_addr && {EADDRNOTAVAIL}"},
                 {"rdma_resolve_addr && {ENODEV}"},
                 {"rdma_resolve_addr && {EADDRNOTAVAIL}"},
                 {"rdma_resolve_addr, 19"},
                 {"rdma_resolve_addr, 99"},
                 {"rdma_getaddrinfo && {ENODEV}"},
                 {"rdma_getaddrinfo && {EADDRNOTAVAIL}"},
                 {"rdma_connect && {EADDRNOTAVAIL}"},
                 {"RDMA connect error -99"},
                 {"RDMA_CM_EVENT_ADDR_ERROR && {ENODEV}"},
                 {"cannot bind to rdma://"},
                 general("rdma bind{}{fails}"),
                 general("rdma listen{}{fails}"),
                 general("listen{}on rdma && {fails}"),
                 general("listening on the 'rdma' transport && {fails}"),
                 general("rdma_cm{}{EADDRNOTAVAIL}"),
                 general("rdma_cm{}{ENODEV}")},
       .cause =
           "rdma_cm finds the NIC by the IP address of its interface. This address is that of an "
           "ordinary interface (127.0.0.1, a management or container network), is not set on any "
           "interface of this host, or the kernel's route to the peer leaves by an interface that "
           "is no RDMA NIC. In a container the NIC's interface may be in another network "
           "namespace.",
       .consequence =
           "The server does not listen, or the client does not connect. Connections that "
           "programs set up over a socket (perftest without `-R`, NCCL) are not "
           "concerned.",
       .checks = {"rdma-nics", "roce-gid"},
       .fix_now = "`rdma link`; names the interface of each NIC; `ip -br addr`; `ip route get "
                  "PEER`; then an address of such an interface on both sides, never 127.0.0.1 or "
                  "localhost",
       .fix_for_good = "A static address on the NIC's interface; on hosts without an RDMA NIC a "
                       "software one: `sudo rdma link add rxe0 type rxe netdev INTERFACE`.",
       .sources = {{"https://github.com/pmem/rpma/issues/1934", Stated::kCauseAndFix},
                   {"https://man7.org/linux/man-pages/man3/rdma_bind_addr.3.html", Stated::kCause},
                   {"https://github.com/spdk/spdk/issues/1326", Stated::kCause},
                   {"https://github.com/ofiwg/libfabric/issues/5940", Stated::kSymptom}},
       .explains = {"rdma-cm", "rdma-storage", "rdma-cm-unresolved", "perftest-peer-gone"}},
      {.id = "rdma-cm-unresolved",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "rdma_cm gets no answer for the peer's IP address on this NIC",
       .texts = {general("rdma address not resolved"),
                 general("Failed to resolve address, errno"),
                 general("address not resolved && rdma"),
                 {"RDMA_CM_EVENT_ADDR_ERROR"},
                 {"RDMA CM: ADDR_ERROR"},
                 {"times ADDR_ERROR"},
                 {"RDMA address resolution error"},
                 {"rdma_resolve_addr{}wait failed"},
                 {"rdma_resolve_addr && {ETIMEDOUT}"},
                 {"rdma_resolve_addr && {EHOSTUNREACH}"},
                 {"rdma_resolve_addr && {ENETUNREACH}"},
                 {"rdma_resolve_addr, 101"},
                 {"rdma_resolve_addr, 110"},
                 {"rdma_resolve_addr, 113"},
                 general("rdma address resolution{}{fails}"),
                 general("resolve rdma {}{fails}")},
       .cause =
           "The first step is the peer's MAC address (ARP), asked on the interface that the route "
           "to it names. Nobody answers there: another subnet or VLAN, an interface that is down "
           "or has lost its address (after a restart of the network service), a peer that is off, "
           "or a route that leaves by an interface which is no RDMA NIC.",
       .consequence = "No connection by rdma_cm to this address.",
       .checks = {"rdma-nics", "port-state", "roce-gid"},
       .fix_now = "`ip route get PEER`; `ping -I INTERFACE PEER`; with the NIC's own interface, on "
                  "both hosts; `rdma link`; `rping -c -v -C 3 -a PEER`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/rdma_resolve_addr.3.html",
                    Stated::kCause},
                   {"https://github.com/spdk/spdk/issues/2686", Stated::kSymptom},
                   {"https://github.com/spdk/spdk/issues/2356", Stated::kSymptom}},
       .explains = {"rdma-cm", "rdma-storage", "perftest-peer-gone"}},
      {.id = "rdma-cm-rejected",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The peer refused the RDMA connection: nothing listens for RDMA at that port",
       .texts = {last("{rdma-word} && {ECONNREFUSED}"),
                 {"RDMA_CM_EVENT_REJECTED"},
                 {"RDMA CM: REJECTED"},
                 {"invalid service ID"},
                 {"{cm-call} && {ECONNREFUSED}"},
                 {"cannot connect to rdma://"},
                 {"rdma connection establishment failed (-104)"},
                 {"rdma connection establishment failed (-111)"},
                 {"fi_eq_readerr{}Connection refused"},
                 {"vrb_{word} && {ECONNREFUSED}"},
                 general("RDMA connect rejected"),
                 general("Connect rejected: status"),
                 general("rdma connect{}{ECONNREFUSED}"),
                 general("nvme-fabrics && {ECONNREFUSED}"),
                 general("failed to add controller && {ECONNREFUSED}")},
       .cause =
           "The peer's NIC was reached and said no. Mostly no program listens there by rdma_cm: "
           "the server is not started, listens at another port or address or by TCP (perftest "
           "without `-R`, an NVMe target whose port is of type tcp). Else the server itself "
           "refused: too many connections, other queue sizes, another release.",
       .consequence = "No connection; network and driver carried the request there and back.",
       .checks = {},
       .fix_now = "On the server: `rdma resource show cm_id`; must list state LISTEN and the port; "
                  "then the server's own log at that second; `rping -s` there and `rping -c -a "
                  "SERVER -C 3` here tell the program from the network",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html",
                    Stated::kCause},
                   {"https://github.com/linux-rdma/perftest/issues/54", Stated::kSymptom}},
       .explains = {"rdma-cm", "rdma-storage", "perftest-peer-gone", "rdma-cm-unresolved"}},
      {.id = "rdma-cm-consumer",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The server's own program refused the RDMA connection (consumer defined)",
       .texts = {{"connect request: no private data provided"},
                 {"responder_resources must be 0 but set to"},
                 {"but unable to find a corresponding device"},
                 general("rejected by consumer"),
                 {"status 28 (consumer defined)"},
                 {"(consumer defined)"},
                 {"RDMA_CM_EVENT_REJECTED && status 28"},
                 {"RDMA_CM_EVENT_REJECTED && status = 28"},
                 {"RDMA_CM_EVENT_REJECTED (8) from CM event channel (status = 28"},
                 {"rdma_reject (id="},
                 {"nvmf_rdma_connect{}reject"},
                 general("nvme_rdma{}rejected{}status {number}")},
       .cause = "A server listens there and said no: it has no room for another connection or "
                "queue, does not accept this host (NVMe: host NQN, controller ID), was asked for "
                "larger queues than it has, or the two are of releases that do not fit.",
       .consequence = "No connection; network, NIC and address are in order.",
       .checks = {},
       .fix_now = "The server's log or dmesg at the same second names its reason; NVMe: `nvme "
                  "connect -t rdma -a ADDRESS -n NQN --nr-io-queues=4 --queue-size=64`",
       .fix_for_good = "",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/infiniband/core/cm.c",
                    Stated::kCause}},
       .explains = {"rdma-cm", "rdma-storage", "rdma-cm-rejected", "rdma-cm-unresolved"}},
      {.id = "rdma-cm-unreachable",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The peer's NIC does not answer the connection request (rdma_cm)",
       .texts = {{"Failed to resolve route, er"},
                 {"RDMA_CM_EVENT_UNREACHABLE"},
                 {"RDMA_CM_EVENT_ROUTE_ERROR"},
                 {"RDMA CM: UNREACHABLE"},
                 {"RDMA CM: ROUTE_ERROR"},
                 {"rdma_resolve_route && {fails}"},
                 {"rdma_connect && {ETIMEDOUT}"},
                 {"rdma_connect && {EHOSTUNREACH}"},
                 {"rdma_connect && {ENETUNREACH}"},
                 {"cm_id={}timed out"},
                 general("rdma connect{}{ETIMEDOUT}"),
                 general("rdma connection{}{ETIMEDOUT}"),
                 general("rdma_cm{}{ETIMEDOUT}"),
                 general("rdmacm: && {ETIMEDOUT}")},
       .cause =
           "The IP address was resolved; the request over RDMA itself got no answer. RoCE: a "
           "firewall drops UDP port 4791, the two sides use RoCE v1 and v2 (`cma_roce_mode`), the "
           "peer's driver is not loaded or its address is of an interface without RDMA. "
           "InfiniBand: no subnet manager, so that there is no path (ROUTE_ERROR), or another "
           "partition.",
       .consequence = "No connection by rdma_cm to this peer.",
       .checks = {"port-state", "roce-gid", "subnet-manager"},
       .fix_now = "`rdma link`; on both hosts, whose addresses must be of these interfaces; `sudo "
                  "nft list ruleset | grep -n 4791`; InfiniBand: `sudo sminfo`; `rping -s` there "
                  "and `rping -c -a PEER -C 3` here",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html",
                    Stated::kCause},
                   {"https://github.com/rapidsai/dask-cuda/issues/168", Stated::kSymptom}},
       .explains = {"rdma-cm", "rdma-storage", "perftest-peer-gone"}},
      {.id = "rdma-cm-removed",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The NIC was removed or reset while connections used it",
       .texts = {{"RDMA_CM_EVENT_DEVICE_REMOVAL"}, {"RDMA CM: DEVICE_REMOVAL"}},
       .cause =
           "The driver was unloaded, the NIC was reset or has failed, its virtual function was "
           "taken away, or a bond above it changed. The kernel then ends every connection of "
           "the device.",
       .consequence = "All connections over this NIC are gone; it works again when it is back.",
       .checks = {"rdma-nics", "nic-firmware"},
       .fix_now = "`sudo dmesg -T | grep -E 'mlx5|bnxt|irdma|bond' | tail -40`; `rdma link`; then "
                  "start the program again",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html",
                    Stated::kCause}},
       .explains = {"rdma-cm", "rdma-storage"}},
      {.id = "rdma-cm-port",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The port is taken: another program listens there",
       .texts = {{"rdma_bind_addr && {EADDRINUSE}"},
                 {"rdma_listen && {EADDRINUSE}"},
                 {"rdma_resolve_addr && {EADDRINUSE}"},
                 {"rdma_resolve_addr, 98"},
                 general("rdma bind{}address already in use"),
                 general("rdma listen{}address already in use"),
                 general("rdma_cm && address already in use")},
       .cause = "rdma_cm shares its port numbers with TCP on the interface's address. An earlier "
                "run that still goes on holds it, or another service.",
       .consequence = "The server does not start; driver and NIC are not concerned.",
       .checks = {},
       .fix_now = "`ss -tlnp`; `rdma resource show cm_id`; end that program, or take another port",
       .fix_for_good = "",
       .sources = {{"https://github.com/animeshtrivedi/blog/issues/2", Stated::kCause},
                   {"https://man7.org/linux/man-pages/man3/rdma_bind_addr.3.html",
                    Stated::kSymptom}},
       .explains = {"rdma-cm", "rdma-storage", "rdma-cm-address", "perftest-peer-gone"}},
      {.id = "rdma-cm-absent",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "rdma_cm does not start: its module, device or libraries are missing",
       .texts = {{"Creating cm event channel failed"},
                 {"rdma_create_event_channel && {fails}"},
                 {"rdma_create_event_channel() failed"},
                 {"rdma_create_event_channel fail"},
                 {"librdmacm: couldn't read ABI version"},
                 {"librdmacm: Warning: couldn't read ABI version"},
                 {"librdmacm: Fatal: kernel ABI version"},
                 {"No RDMA devices were detected"},
                 {"/dev/infiniband/rdma_cm && {fails}"}},
       .cause = "The module `rdma_ucm` is not loaded, the container was not given "
                "`/dev/infiniband/rdma_cm`, or the NIC's user-space library (its provider in "
                "rdma-core or OFED) is not installed, so rdma_cm finds no device.",
       .consequence = "No program that connects by rdma_cm starts.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "`sudo modprobe rdma_ucm`; `ls -l /dev/infiniband`; `ibv_devinfo`, which has to "
                  "list the NIC",
       .fix_for_good = "Debian: `sudo apt-get install ibverbs-providers librdmacm1`; with OFED its "
                       "own packages, and not both.",
       .sources = {{"https://github.com/axboe/fio/issues/159", Stated::kCauseAndFix},
                   {"https://man7.org/linux/man-pages/man3/rdma_create_event_channel.3.html",
                    Stated::kSymptom}},
       .explains = {"rdma-cm", "rdma-storage", "perftest-peer-gone", "rdma-cm-address"}},
      {.id = "address-family",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The two sides use addresses of different families (AF_IB, IPv4, IPv6) in rdma_cm",
       .texts = {general("AF_IB && reject"), general("AF_IB && {fails}"), general("AF_IB family"),
                 general("AF_IB famil"), general("FI_SOCKADDR_IB && {fails}"),
                 general("address family && {cm-call}"), general("rdma_getaddrinfo && AF_IB"),
                 general("IPv6 && {cm-call} && {fails}")},
       .cause = "`rdma_getaddrinfo` may give an InfiniBand address (AF_IB) first, or IPv6 before "
                "IPv4, while the other side is bound to an IP address of another family; the "
                "kernel then finds no listener and rejects.",
       .consequence = "The connection is rejected, though both sides reach each other.",
       .checks = {},
       .fix_now =
           "In the program: `ai_family = AF_INET` (`RAI_FAMILY`) in the hints of both sides, "
           "or bind to `::`; tools: the address of the NIC's interface in place of a name",
       .fix_for_good = "",
       .sources = {{"https://github.com/Eyescale/Collage/pull/188", Stated::kCauseAndFix},
                   {"https://man7.org/linux/man-pages/man3/rdma_getaddrinfo.3.html",
                    Stated::kSymptom}},
       .explains = {"rdma-cm", "rdma-cm-rejected", "rdma-cm-address", "verbs-call"}},
      {.id = "rdma-cm",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The connection manager (rdma_cm) refused or found no way",
       .texts = {{"Failed to connect to remote host , errno"},
                 {"Failed to setup client connection"},
                 {"wait for CONNECTED state"},
                 {"connect error -1{end}"},
                 general("RDMA_CM_EVENT_CONNECT_ERROR"),
                 general("{cm-call} && {fails}"),
                 general("RDMA_CM_EVENT_MULTICAST_ERROR"),
                 general("rdmacm: && {fails}"),
                 general("rdma_cm{}{fails}"),
                 general("rdma connection{}{fails}"),
                 general("rdma connect{}{fails}"),
                 general("RDMA CM && {fails}"),
                 general("Unable to create RDMA_CM resources"),
                 general("wait for RDMA_CM_EVENT_"),
                 general("fio: rdma_{word}: {number}"),
                 {"Unexpected CM event"},
                 {"unexpected RDMACM event"},
                 general("rping: wait for"),
                 general("rping && {fails}"),
                 general("udaddy: && {fails}"),
                 general("ucmatose: && {fails}"),
                 general("cmatose: && {fails}"),
                 general("mckey: && {fails}"),
                 general("rstream && {fails}"),
                 general("riostream && {fails}"),
                 general("RDMA CM: CONNECT_ERROR"),
                 {"RDMA-CM{}option failed"},
                 {"no supported sockaddr auxiliary transports"}},
       .cause = "Rejected: nobody listens there (another port, a server without `-R`). Address or "
                "bind error: the address is not that of an RDMA NIC's interface, or the NIC is in "
                "another network namespace. Route or unreachable: no way between the two "
                "interfaces.",
       .consequence = "No connection by rdma_cm. Memory, and connections that programs set up over "
                      "a socket (perftest without `-R`, NCCL), are not concerned.",
       .checks = {"rdma-nics", "roce-gid"},
       .fix_now =
           "`rdma link`; `ip -br addr`; `sudo modprobe rdma_ucm`; `rping -s` on one side and "
           "`rping -c -a ADDRESS` on the other",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html",
                    Stated::kCause},
                   {"https://github.com/linux-rdma/perftest/issues/54", Stated::kSymptom},
                   {"https://github.com/linux-rdma/perftest/issues/383", Stated::kSymptom}},
       .explains = {"rdma-storage"}},
  };
  return table;
}

}  // namespace gdr::explain
