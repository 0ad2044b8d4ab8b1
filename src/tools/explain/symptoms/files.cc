// File systems, disks and data engines over RDMA: SMB Direct, GlusterFS, Ceph, Lustre, NVMe, Spark.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& file_symptoms() {
  static const Symptoms table = {
      {.id = "smb-direct",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "SMB Direct: ksmbd or Samba offers no RDMA, or the Windows client takes none",
       .texts = {general("ksmbd && RDMA"), general("SMB Direct && fail"),
                 general("SMB Direct && not work"), general("smb direct && windows"),
                 general("SMB-Direct && ksmbd"), general("not configured to SMB-Direct"),
                 general("SMB2 rather than SMB-Direct"), general("smbdirect && {fails}"),
                 general("Client RDMA Capable"), general("This interface does not support RDMA"),
                 general("RDMA from Windows"), general("Get-SmbMultichannelConnection"),
                 general("RDMA_CAPABLE && ksmbd"), general("ksmbd_rdma_capable_netdev"),
                 general("RDMA_CAPABLE{}bits are {}0"), general("enable RDMA: Windows")},
       // What ksmbd prints when it starts.
       .unless = {"ksmbd: Initialize RDMA listener"},
       .cause =
           "Four things must come together. The server: `server multi channel support = yes` in "
           "ksmbd.conf, and a ksmbd built with `CONFIG_SMB_SERVER_SMBDIRECT` (many "
           "distributions leave it out; Samba itself has SMB Direct from 4.23 on). Its share is "
           "reached by the address of the RDMA NIC's interface, and ksmbd asks that interface "
           "whether it is RDMA (InfiniBand's only from Linux 6.7 on). The client: Windows Server, "
           "Enterprise or Pro for Workstations with SMB Direct switched on; Home and plain Pro "
           "have none.",
       .consequence =
           "Files go over TCP. Windows' task manager shows no RDMA traffic even where it "
           "is used: its performance counters (RDMA Activity) do.",
       .checks = {"rdma-nics", "roce-gid"},
       .fix_now = "`grep SMBDIRECT /boot/config-$(uname -r)`; `sudo ksmbd.control -d rdma`; then "
                  "dmesg while the client connects; on Windows: `Get-SmbClientNetworkInterface`; "
                  "`Get-SmbMultichannelConnection`",
       .fix_for_good = "A kernel with SMBDIRECT, or ksmbd built with `make "
                       "CONFIG_SMB_SERVER_SMBDIRECT=y` against the RDMA headers of that kernel.",
       .sources = {{"https://github.com/namjaejeon/ksmbd/issues/488", Stated::kCauseAndFix},
                   {"https://github.com/cifsd-team/ksmbd/issues/608", Stated::kCauseAndFix},
                   {"https://github.com/namjaejeon/ksmbd/issues/456", Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "gluster-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "GlusterFS over RDMA: the transport was given up, and is gone since release 8",
       .texts = {{"rpc-transport/rdma.so"},
                 general("missing rdma.so"),
                 general("rdma.so && {fails}"),
                 {"transport rdma", 1},
                 {"transport type rdma", 1},
                 {"transport tcp,rdma", 1},
                 {"volume create", 2},
                 {"gluster volume", 2},
                 {"glusterfs", 2},
                 {"gluster> volume", 2},
                 {"rpc-transport/rdma && {fails}"},
                 {"gf_rdma_{word} && {fails}"},
                 {"rdma.management && {fails}"}},
       .cause = "The rdma transport was not maintained for years (it lost connections by itself), "
                "was declared obsolete in 6 and removed in 8: its `rdma.so` is not in the "
                "packages. Nothing is wrong with the NIC.",
       .consequence = "Volumes with this transport do not start, or lose their clients.",
       .checks = {},
       .fix_now = "The volume over TCP on the NIC's IP address (IPoIB or RoCE interface): `gluster "
                  "volume set VOLUME config.transport tcp`; with all clients unmounted and the "
                  "volume stopped",
       .fix_for_good = "",
       .sources = {{"https://github.com/gluster/glusterfs/issues/680", Stated::kCauseAndFix},
                   {"https://github.com/gluster/glusterfs-debian/issues/48", Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call", "library-absent"}},
      {.id = "ceph-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "Ceph's messenger over RDMA (async+rdma) fails: device, limits, or the messenger "
                "itself",
       .texts = {general("ms_async_rdma && {fails}"),
                 general("async+rdma && {fails}"),
                 general("async+rdma && abort"),
                 general("RDMAStack{}{fails}"),
                 general("RDMAConnectedSocket && {fails}"),
                 general("RDMADispatcher && {fails}"),
                 general("RDMAConnectedSocketImpl && {fails}"),
                 general("OUT OF RX BUFFERS"),
                 general("ms_cluster_type && rdma"),
                 general("ms_type && async+rdma"),
                 general("Infiniband{}{fails}{}ceph"),
                 general("not tx buffer"),
                 {"async RDMA messenger"},
                 {"RDMAServerSocketImpl"}},
       .cause = "Likeliest first: ceph's services may lock 64 KiB only (`LimitMEMLOCK`) or do not "
                "see `/dev/infiniband` (`PrivateDevices=yes` in their units); "
                "`ms_async_rdma_device_name`, the port or the GID (`ms_async_rdma_local_gid`) is "
                "not of this host; buffers or open files run out with many daemons. This messenger "
                "is experimental, and has defects of its own under load.",
       .consequence = "The daemons stop, or do not find each other.",
       .checks = {"locked-memory", "devices", "roce-gid"},
       .fix_now =
           "`systemctl edit ceph-osd@`; with `LimitMEMLOCK=infinity`, `LimitNOFILE=1048576`, "
           "`PrivateDevices=no`; `show_gids`; to go on over TCP: `ms_type = async+posix` "
           "in ceph.conf",
       .fix_for_good = "",
       .sources = {{"https://github.com/ceph/ceph/pull/69614", Stated::kCause},
                   {"https://github.com/ceph/ceph/pull/17018", Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "lnet-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "Lustre's network over RDMA (o2iblnd) gets no answer from a peer",
       .texts = {{"kiblnd_{word}(){}Timed out"},
                 {"o2iblnd_cb.c{}Timed out"},
                 {"Timed out tx for {word}@o2ib"},
                 {"Timed out RDMA with {word}@o2ib"},
                 {"@o2ib{} failed due to network error"},
                 {"@o2ib failed: rc = -107"},
                 {"@o2ib failed: rc = -110"},
                 {"@o2ib: connection failed"},
                 {"{word}@o2ib: rejected"},
                 {"@o2ib && Input/output error"}},
       .cause = "Likeliest first: that server or router is down or rebooting; the fabric between "
                "is (a link that goes down, on RoCE lost packets); the address of the peer's NIC "
                "is on another interface than LNet was told (`lnetctl net show`), or several "
                "interfaces of one subnet answer ARP for each other.",
       .consequence = "The file system waits, and recovers when the peer is back.",
       .checks = {"port-state", "port-errors", "lossless"},
       .fix_now = "`sudo lctl ping SERVER@o2ib`; `sudo lnetctl net show -v`; `sudo lnetctl stats "
                  "show`; `rping -c -a SERVER -C 3`; the server's dmesg at the same time",
       .fix_for_good = "",
       .sources = {{"https://wiki.lustre.org/LNet_Router_Config_Guide", Stated::kFix},
                   {"https://github.com/jade-hpc-gpu/jade-hpc-gpu.github.io/issues/14",
                    Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "lnet-settings",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "Lustre's o2iblnd has other settings on the two sides, or none that this NIC takes",
       .texts = {{"rejected: incompatible message queue depth"},
                 {"rejected: incompatible # of RDMA fragments"},
                 {"RDMA is too fragmented for"},
                 {"Can't accept {word}@o2ib: incompatible queue depth"},
                 {"Can't accept {word}@o2ib: max_frags"},
                 {"Failed to map mr"},
                 general("map_on_demand && {fails}"),
                 general("peer_credits && {fails}"),
                 general("peer_credits && mismatch"),
                 general("map_on_demand && mismatch"),
                 {"ko2iblnd && not support FMR"},
                 {"ko2iblnd && IB device does not support FMRs"}},
       .cause = "`peer_credits`, `concurrent_sends` and `map_on_demand` of ko2iblnd must fit "
                "between all hosts; Lustre sets them by the NIC (`ko2iblnd-probe` knows OPA and "
                "mlx5), so that a host with another NIC or release differs. NICs without FMR (all "
                "newer ones) want `map_on_demand=1` or a Lustre that uses FastReg.",
       .consequence = "These two hosts do not connect.",
       .checks = {},
       .fix_now = "`grep -H . /sys/module/ko2iblnd/parameters/*`; on both hosts; then the same "
                  "line in `/etc/modprobe.d/ko2iblnd.conf`, as `options ko2iblnd peer_credits=32 "
                  "concurrent_sends=64 map_on_demand=256`",
       .fix_for_good = "",
       .sources = {{"https://wiki.lustre.org/LNet_Router_Config_Guide", Stated::kFix}},
       .explains = {"rdma-storage", "lnet-rdma", "verbs-call"}},
      {.id = "nvme-connect-status",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The NVMe target refused the Connect command, or did not answer it",
       .texts = {{"Connect command failed, error wo/DNR bit"},
                 {"Connect command failed, errno"},
                 {"Connect Invalid Data Parameter"},
                 {"Connect Invalid SQE Parameter"},
                 {"Connect for subsystem {word} is not allowed, hostnqn"},
                 {"nvme nvme{number}: failed to connect queue: {number} ret="}},
       .cause =
           "The RDMA connection itself stood. The status says who is to blame. 6: an internal "
           "error of the target, its log names it (queue sizes or a data length that it does not "
           "take, as of an older SPDK with a newer kernel). 385 (0x181): controller busy, ID "
           "still in use. 386 (0x182): a wrong host or subsystem NQN. 388 (0x184): this host NQN "
           "is not allowed. 880, 881 (0x370, 0x371): no answer, the host gave up: packets of this "
           "size are lost between the two (MTU, firewall, PFC).",
       .consequence = "`nvme connect` and `nvme discover` end with Input/output error.",
       .checks = {"mtu", "port-state"},
       .fix_now =
           "`cat /etc/nvme/hostnqn`; the target's log or dmesg at the same second; smaller "
           "queues: `nvme connect -t rdma -a ADDRESS -s 4420 -n NQN --nr-io-queues=4 "
           "--queue-size=64`; no answer: `rping -c -a ADDRESS -C 3 -S 4000` and `ib_send_bw -R "
           "ADDRESS` between the two",
       .fix_for_good = "",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/nvme/host/fabrics.c",
                    Stated::kCause},
                   {"https://github.com/linux-nvme/nvme-cli/issues/659", Stated::kSymptom},
                   {"https://github.com/linux-nvme/nvme-cli/issues/3268", Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "nvme-io-sizes",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title =
           "The NVMe host asks for larger requests or queues than SPDK's target was set up for",
       .texts = {{"exceeds max io size"},
                 {"SGL length exceeds the max I/O size"},
                 {"Multi SGL element request length exceeds"},
                 {"exceeds capsule length"},
                 {"Requested too much entries ({number}), the limit is"},
                 {"Not enough SG entries to hold data buffer"}},
       .cause = "The transport was created with a smaller `max_io_size`, `in_capsule_data_size` or "
                "`max_sges` than the host uses, mostly because another block size or a newer host "
                "came.",
       .consequence = "These requests fail, and the host resets the controller.",
       .checks = {},
       .fix_now = "The target's transport anew: `scripts/rpc.py nvmf_create_transport -t RDMA -u "
                  "8192 -i 1048576 -c 8192`; or a smaller limit on the host: `echo 128 | sudo tee "
                  "/sys/block/nvme0n1/queue/max_sectors_kb`",
       .fix_for_good = "",
       .sources = {{"https://github.com/spdk/spdk/blob/master/lib/nvmf/rdma.c", Stated::kCause}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "spark-native-library",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "SparkRDMA does not find its native library libdisni on some host",
       .texts = {{"libdisni not found"},
                 {"no disni in java.library.path"},
                 {"libdisni.so && {fails}"},
                 {"UnsatisfiedLinkError && disni"}},
       .cause = "`libdisni.so` is loaded by every executor and by the driver, and lies in none of "
                "the folders of their `java.library.path`.",
       .consequence = "The shuffle over RDMA does not start.",
       .checks = {},
       .fix_now = "`libdisni.so` on every host, and `spark.driver.extraJavaOptions "
                  "-Djava.library.path=/usr/local/lib` with the same for "
                  "`spark.executor.extraJavaOptions`",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/SparkRDMA/issues/35", Stated::kCauseAndFix}},
       .explains = {"library-absent", "verbs-call"}},
      {.id = "spark-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "SparkRDMA: an executor has no RDMA connection to another",
       .texts = {{"has no RDMA connection to BlockManagerId"},
                 {"Failed in RdmaNode constructor"},
                 {"Error in accept call on a passive RdmaChannel"},
                 {"RdmaChannel{}{fails}"},
                 {"RdmaNode{}{fails}"},
                 {"org.apache.spark.shuffle.rdma.RdmaChannel.connect"},
                 last("SparkRDMA && {fails}"),
                 last("disni && {fails}")},
       .cause = "Likeliest first: an executor died, or its host name leads to an interface that is "
                "no RDMA NIC (SparkRDMA binds to the address of the host's name); the limit of "
                "locked memory of YARN's containers; receive queues that are too short "
                "(`spark.shuffle.rdma.recvQueueDepth`); two releases of libdisni.",
       .consequence = "Stages are tried again over the same way, and the job fails in the end.",
       .checks = {"rdma-nics", "locked-memory"},
       .fix_now = "`getent hosts $(hostname)`; must be the address of the RDMA interface on every "
                  "host; `rdma link`; the first error of the executor that is named; `ulimit -l` "
                  "in YARN's container; `rping -s` and `rping -c -a HOST -C 3`",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/SparkRDMA/issues/23", Stated::kSymptom},
                   {"https://github.com/Mellanox/SparkRDMA/issues/31", Stated::kSymptom}},
       .explains = {"verbs-call", "library-crash", "rdma-cm"}},
      {.id = "beegfs-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "BeeGFS goes over TCP: its RDMA library, interface list or port is missing",
       .texts = {{"libbeegfs_ib{}{fails}"},
                 {"libbeegfs-ib{}{fails}"},
                 general("connUseRDMA && {fails}"),
                 general("IBVSocket{}{fails}"),
                 general("IBVCommContext{}{fails}"),
                 general("beegfs && rdma && {fails}"),
                 general("beegfs && rdma && TCP"),
                 {"No RDMA capable interfaces"},
                 {"RDMA is not available", 1},
                 {"beegfs-{word}", 2}},
       .cause =
           "Likeliest first: the package `libbeegfs-ib` is not installed, or the client module "
           "was built without `OFED_INCLUDE_PATH` of this OFED; `connUseRDMA=false`, or "
           "`connInterfacesFile` names no RDMA interface; the other side is not reached by "
           "rdma_cm at its port, so that BeeGFS falls back.",
       .consequence = "Data goes over TCP, slower.",
       .checks = {"rdma-nics", "roce-gid"},
       .fix_now = "`beegfs-net`; lists the connections as RDMA or TCP; `beegfs health net`; "
                  "`sudo apt-get install libbeegfs-ib`; `rping -c -a SERVER -C 3`",
       .fix_for_good = "",
       .sources = {{"https://doc.beegfs.io/latest/advanced_topics/rdma_support.html",
                    Stated::kCauseAndFix}},
       .explains = {"rdma-cm", "rdma-storage", "verbs-call"}},
  };
  return table;
}

}  // namespace gdr::explain
