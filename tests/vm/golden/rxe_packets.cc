// rxe_packets: makes one rxe device send the other every kind of packet it knows, and prints what
// crossed the veth pair between them. Runs in the guest of the VM lab; see capture.py.
//
//   rxe_packets 4|6 [lossy]     over IPv4 or IPv6; lossy: only what loss brings about
//
// A line "# OPCODE family step" each, and a line with the whole IP packet as hexadecimal digits.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "queue_pair_steps.h"

namespace {

constexpr std::size_t kBytes = 16384;
constexpr std::uint32_t kQKey = 0x11223344;
constexpr std::uint32_t kImmediate = 0x01020304;
constexpr std::uint8_t kTrafficClass = 0x68;
constexpr std::uint32_t kFlowLabel = 0x12345;

[[noreturn]] void die(const std::string& what) {
  perror(what.c_str());
  exit(1);
}

template <typename T>
T* made(T* object, const char* what) {
  if (!object) die(what);
  return object;
}

void done(int code, const char* what) {
  errno = code;
  if (code) die(what);
}

// One of the two devices with all that belongs to it.
struct Side {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
  ibv_gid gid{};
  std::uint8_t gid_index = 0;
  alignas(4096) std::uint8_t buffer[kBytes];
};
Side a, b;

bool wanted(const ibv_gid& gid, int family) {
  const bool mapped = gid.raw[10] == 0xff && gid.raw[11] == 0xff && gid.raw[0] == 0;
  return family == 4 ? mapped : gid.raw[0] == 0xfd;
}

void open_side(Side& side, const char* name, int family) {
  int count = 0;
  ibv_device** list = made(ibv_get_device_list(&count), "ibv_get_device_list");
  for (int i = 0; i < count; ++i) {
    if (!strcmp(ibv_get_device_name(list[i]), name)) side.context = ibv_open_device(list[i]);
  }
  made(side.context, name);
  for (int i = 0; i < 16; ++i) {
    ibv_gid gid{};
    if (ibv_query_gid(side.context, 1, i, &gid) || !wanted(gid, family)) continue;
    side.gid = gid;
    side.gid_index = static_cast<std::uint8_t>(i);
  }
  side.pd = made(ibv_alloc_pd(side.context), "ibv_alloc_pd");
  side.cq = made(ibv_create_cq(side.context, 64, nullptr, nullptr, 0), "ibv_create_cq");
  for (std::size_t i = 0; i < kBytes; ++i) side.buffer[i] = static_cast<std::uint8_t>(i * 7 + 3);
  side.mr = made(ibv_reg_mr(side.pd, side.buffer, kBytes,
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC),
                 "ibv_reg_mr");
}

ibv_ah_attr path(const Side& from, const Side& to) {
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  attributes.port_num = 1;
  attributes.grh.dgid = to.gid;
  attributes.grh.sgid_index = from.gid_index;
  attributes.grh.hop_limit = 64;
  attributes.grh.traffic_class = kTrafficClass;
  attributes.grh.flow_label = kFlowLabel;
  return attributes;
}

void create_qp(Side& side, ibv_qp_type type, int access) {
  if (side.qp) ibv_destroy_qp(side.qp);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = side.cq;
  init.qp_type = type;
  init.sq_sig_all = 1;
  init.cap = {32, 32, 2, 2, 0};
  side.qp = made(ibv_create_qp(side.pd, &init), "ibv_create_qp");
  ibv_qp_attr attributes = gdr::test::attributes_towards(0, {});
  attributes.qp_access_flags = access;
  attributes.qkey = kQKey;
  done(gdr::test::step(side.qp, attributes, IBV_QPS_INIT), "INIT");
}

void bring_up(Side& side, const Side& peer, ibv_mtu mtu, std::uint32_t psn) {
  ibv_qp_attr attributes = gdr::test::attributes_towards(peer.qp->qp_num, {});
  attributes.path_mtu = mtu;
  attributes.ah_attr = path(side, peer);
  attributes.rq_psn = attributes.sq_psn = psn;
  attributes.max_dest_rd_atomic = attributes.max_rd_atomic = 4;
  attributes.min_rnr_timer = 14;
  done(gdr::test::step(side.qp, attributes, IBV_QPS_RTR), "RTR");
  done(gdr::test::step(side.qp, attributes, IBV_QPS_RTS), "RTS");
}

constexpr int kEveryRight =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

void connect(ibv_qp_type type, ibv_mtu mtu, std::uint32_t psn = 0x1000, int access = kEveryRight) {
  // rxe leaves the completions of a queue pair that is gone.
  for (ibv_wc wc{}; ibv_poll_cq(a.cq, 1, &wc) > 0 || ibv_poll_cq(b.cq, 1, &wc) > 0;) {
  }
  create_qp(a, type, access);
  create_qp(b, type, access);
  bring_up(a, b, mtu, psn);
  bring_up(b, a, mtu, psn);
}

// Everything that crosses the pair, in both directions, without its Ethernet header.
int open_capture() {
  const int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex("w0"));
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address)) die("AF_PACKET");
  const int room = 8 << 20;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  return fd;
}

std::string opcode_name(int opcode) {
  static const char* const kKinds[] = {"RC_", "UC_", "RD_", "UD_"};
  static const char* const kNames[] = {"SEND_FIRST",
                                       "SEND_MIDDLE",
                                       "SEND_LAST",
                                       "SEND_LAST_WITH_IMMEDIATE",
                                       "SEND_ONLY",
                                       "SEND_ONLY_WITH_IMMEDIATE",
                                       "RDMA_WRITE_FIRST",
                                       "RDMA_WRITE_MIDDLE",
                                       "RDMA_WRITE_LAST",
                                       "RDMA_WRITE_LAST_WITH_IMMEDIATE",
                                       "RDMA_WRITE_ONLY",
                                       "RDMA_WRITE_ONLY_WITH_IMMEDIATE",
                                       "RDMA_READ_REQUEST",
                                       "RDMA_READ_RESPONSE_FIRST",
                                       "RDMA_READ_RESPONSE_MIDDLE",
                                       "RDMA_READ_RESPONSE_LAST",
                                       "RDMA_READ_RESPONSE_ONLY",
                                       "ACKNOWLEDGE",
                                       "ATOMIC_ACKNOWLEDGE",
                                       "COMPARE_SWAP",
                                       "FETCH_ADD",
                                       "RESERVED",
                                       "SEND_LAST_WITH_INVALIDATE",
                                       "SEND_ONLY_WITH_INVALIDATE"};
  const std::size_t operation = opcode & 31;
  if (opcode >> 5 > 3 || operation >= std::size(kNames)) return "OPCODE_" + std::to_string(opcode);
  return std::string(kKinds[opcode >> 5]) + kNames[operation];
}

void print_captured(int fd, const std::string& step) {
  usleep(30000);
  std::uint8_t packet[16384];
  ssize_t got;
  while ((got = recv(fd, packet, sizeof packet, MSG_DONTWAIT)) > 0) {
    const bool v4 = packet[0] >> 4 == 4;
    if (!v4 && packet[0] >> 4 != 6) continue;  // ARP
    const std::size_t header = v4 ? 20 : 40;
    if (packet[v4 ? 9 : 6] != IPPROTO_UDP || packet[header + 2] << 8 != (4791 & 0xff00) ||
        packet[header + 3] != (4791 & 0xff)) {
      continue;
    }
    const std::size_t bytes =
        v4 ? packet[2] << 8 | packet[3] : header + (packet[4] << 8 | packet[5]);
    printf("# %s ipv%d %s\n", opcode_name(packet[header + 8]).c_str(), v4 ? 4 : 6, step.c_str());
    for (std::size_t i = 0; i < bytes; ++i) printf("%02x", packet[i]);
    printf("\n");
  }
}

ibv_sge piece(Side& side, std::uint32_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(side.buffer), bytes, side.mr->lkey};
}

void post_receive(std::uint32_t bytes = kBytes) {
  ibv_sge sge = piece(b, bytes);
  ibv_recv_wr request{}, *bad = nullptr;
  request.sg_list = &sge;
  request.num_sge = 1;
  done(ibv_post_recv(b.qp, &request, &bad), "ibv_post_recv");
}

void post_send(ibv_wr_opcode opcode, std::uint32_t bytes, unsigned flags = 0,
               std::uint32_t rkey = 0) {
  ibv_sge sge = piece(a, bytes);
  ibv_send_wr request{}, *bad = nullptr;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = flags;
  request.imm_data = htonl(kImmediate);
  if (opcode == IBV_WR_SEND_WITH_INV) request.invalidate_rkey = b.mr->rkey;
  const std::uint64_t remote = reinterpret_cast<std::uintptr_t>(b.buffer);
  if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    request.wr.atomic = {remote, 0x0a0a0a0a0a0a0a0a, 0x0b0b0b0b0b0b0b0b, b.mr->rkey};
  } else if (a.qp->qp_type == IBV_QPT_UD) {
    static ibv_ah* handle = nullptr;
    ibv_ah_attr attributes = path(a, b);
    if (!handle) handle = made(ibv_create_ah(a.pd, &attributes), "ibv_create_ah");
    request.wr.ud = {handle, b.qp->qp_num, kQKey};
  } else {
    request.wr.rdma = {remote, rkey ? rkey : b.mr->rkey};
  }
  done(ibv_post_send(a.qp, &request, &bad), "ibv_post_send");
}

// The status of the next completion; -1 when none comes within a second.
int await(Side& side) {
  ibv_wc wc{};
  for (int i = 0; i < 1000; ++i) {
    if (ibv_poll_cq(side.cq, 1, &wc) == 1) return wc.status;
    usleep(1000);
  }
  return -1;
}

bool takes_receive(ibv_wr_opcode opcode) {
  return opcode != IBV_WR_RDMA_WRITE && opcode != IBV_WR_RDMA_READ &&
         opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

void transfer(int fd, const char* name, ibv_wr_opcode opcode, std::uint32_t bytes,
              unsigned flags = 0) {
  if (takes_receive(opcode)) post_receive();
  post_send(opcode, bytes, flags);
  const int sent = await(a);
  const int received = takes_receive(opcode) ? await(b) : 0;
  if (sent || received) {
    fprintf(stderr, "%s %u B: status %d, %d\n", name, bytes, sent, received);
    exit(1);
  }
  print_captured(fd, std::string(name) + "-" + std::to_string(bytes));
}

void reliable(int fd) {
  connect(IBV_QPT_RC, IBV_MTU_256);
  for (std::uint32_t bytes : {0u, 1u, 2u, 3u, 64u, 256u, 601u}) {
    transfer(fd, "send", IBV_WR_SEND, bytes);
    transfer(fd, "send-imm", IBV_WR_SEND_WITH_IMM, bytes);
    transfer(fd, "write", IBV_WR_RDMA_WRITE, bytes);
    transfer(fd, "write-imm", IBV_WR_RDMA_WRITE_WITH_IMM, bytes);
    transfer(fd, "read", IBV_WR_RDMA_READ, bytes);
  }
  transfer(fd, "send-solicited", IBV_WR_SEND, 5, IBV_SEND_SOLICITED);
  transfer(fd, "compare-swap", IBV_WR_ATOMIC_CMP_AND_SWP, 8);
  transfer(fd, "fetch-add", IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
  connect(IBV_QPT_RC, IBV_MTU_4096, 0xffffff);
  transfer(fd, "write-mtu-4096-psn-wraps", IBV_WR_RDMA_WRITE, 4097);
}

// What goes wrong: each on queue pairs of its own, since most of it ends them.
void refusals(int fd) {
  connect(IBV_QPT_RC, IBV_MTU_256);
  post_send(IBV_WR_SEND, 64);
  usleep(100000);
  post_receive();
  (void)await(a);
  (void)await(b);
  print_captured(fd, "receiver-not-ready");
  connect(IBV_QPT_RC, IBV_MTU_256);
  post_send(IBV_WR_RDMA_WRITE, 64, 0, b.mr->rkey ^ 0x5a);
  (void)await(a);
  print_captured(fd, "write-with-wrong-key");
  connect(IBV_QPT_RC, IBV_MTU_256, 0x1000, IBV_ACCESS_REMOTE_READ);
  post_send(IBV_WR_RDMA_WRITE, 64);
  (void)await(a);
  print_captured(fd, "write-not-allowed");
  for (std::uint32_t bytes : {64u, 601u}) {
    connect(IBV_QPT_RC, IBV_MTU_256);
    post_receive();
    post_send(IBV_WR_SEND_WITH_INV, bytes);
    (void)await(a);
    print_captured(fd, "send-with-invalidate-" + std::to_string(bytes));
  }
}

void unreliable(int fd) {
  connect(IBV_QPT_UC, IBV_MTU_256);
  for (std::uint32_t bytes : {3u, 64u, 601u}) {
    transfer(fd, "send", IBV_WR_SEND, bytes);
    transfer(fd, "send-imm", IBV_WR_SEND_WITH_IMM, bytes);
    transfer(fd, "write", IBV_WR_RDMA_WRITE, bytes);
    transfer(fd, "write-imm", IBV_WR_RDMA_WRITE_WITH_IMM, bytes);
  }
  connect(IBV_QPT_UD, IBV_MTU_4096);
  for (std::uint32_t bytes : {0u, 1u, 2u, 3u, 64u, 1024u}) {
    transfer(fd, "send", IBV_WR_SEND, bytes);
    transfer(fd, "send-imm", IBV_WR_SEND_WITH_IMM, bytes);
  }
}

// Under loss: requests again, acknowledgements of duplicates, NAKs for a gap in the sequence.
void lossy(int fd) {
  connect(IBV_QPT_RC, IBV_MTU_256);
  for (int i = 0; i < 40; ++i) {
    post_send(i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 601);
    if (i % 8 != 7) continue;
    for (int posted = 0; posted < 8; ++posted) (void)await(a);
  }
  print_captured(fd, "loss");
}

}  // namespace

int main(int argc, char** argv) {
  setlinebuf(stdout);
  const int family = argc > 1 ? atoi(argv[1]) : 4;
  open_side(a, "rxa", family);
  open_side(b, "rxb", family);
  const int fd = open_capture();
  if (argc > 2) {
    lossy(fd);
  } else {
    reliable(fd);
    refusals(fd);
    unreliable(fd);
  }
  return 0;
}
