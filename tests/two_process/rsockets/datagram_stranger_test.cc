// Datagram rsockets and those who do not play by the rules: everything here goes to the sockets of
// a process that must neither believe nor suffer it.
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <span>

#include "datagram_sides.h"
#include "queue_pair_steps.h"

namespace gdr::test {
namespace {

// A peer that speaks the protocol by hand.
class Stranger {
 public:
  explicit Stranger(const sockaddr_in& to) : fd_(socket(AF_INET, SOCK_DGRAM, 0)) {
    CHECK(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  ~Stranger() { close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void send(const std::vector<std::uint8_t>& packet) const {
    CHECK(::send(fd_, packet.data(), packet.size(), 0) == static_cast<ssize_t>(packet.size()));
  }
  void announce(std::string_view data, std::uint8_t kind = 0,
                in_addr device = {htonl(0x7f000009)}) const {
    std::vector<std::uint8_t> packet{0x55, 0x55, 0x55, 0x55, 4, kind, 16, 0, 0, 1, 2, 3};
    const auto* place = reinterpret_cast<const std::uint8_t*>(&device);
    packet.insert(packet.end(), place, place + 4);
    packet.insert(packet.end(), data.begin(), data.end());
    send(packet);
  }
  sockaddr_in name() const {
    sockaddr_in name{};
    socklen_t length = sizeof name;
    CHECK(getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &length) == 0);
    return name;
  }
  std::vector<std::uint8_t> receive(int patience_ms) const {
    std::vector<std::uint8_t> packet(4096);
    pollfd one{fd_, POLLIN, 0};
    if (poll(&one, 1, patience_ms) != 1) return {};
    packet.resize(
        static_cast<std::size_t>(std::max<ssize_t>(recv(fd_, packet.data(), 4096, 0), 0)));
    return packet;
  }

 private:
  int fd_;
};

TEST_F(RsocketDatagram, AnswersAnAnnouncementByUdpAndSendsByQueuePairFromThenOn) {
  run(
      [](int fd) {
        char text[16];
        sockaddr_in from{};
        socklen_t length = sizeof from;
        CHECK(rrecvfrom(fd, text, sizeof text, 0, reinterpret_cast<sockaddr*>(&from), &length) ==
              5);
        for (int i = 0; i < 10; ++i) {
          CHECK(rsendto(fd, text, 5, 0, reinterpret_cast<sockaddr*>(&from), length) == 5);
        }
        CHECK(rrecv(fd, text, sizeof text, 0) == 3);  // the end
      },
      [this](const sockaddr_in& at) {
        const Stranger stranger(at);
        stranger.announce("hello");
        const auto answer = stranger.receive(kLastResortMs);
        CHECK(answer.size() == 16);
        CHECK((std::vector(answer.begin(), answer.begin() + 9) ==
               std::vector<std::uint8_t>{0x55, 0x55, 0x55, 0x55, 4, 7, 16, 0, 0}));
        const sockaddr_in device = own();
        CHECK(std::memcmp(&answer[12], &device.sin_addr, 4) == 0);
        CHECK(stranger.receive(200).empty());
        stranger.announce("end");
      });
}

TEST_F(RsocketDatagram, IgnoresWhateverStrangersSend) {
  run([](int fd) { echo(fd); },
      [](const sockaddr_in& at) {
        const Stranger stranger(at);
        std::mt19937 random(7);
        for (int i = 0; i < 2000; ++i) {
          std::vector<std::uint8_t> packet(random() % 40);
          for (std::uint8_t& byte : packet) byte = static_cast<std::uint8_t>(random());
          if (i % 2 == 0 && packet.size() > 4) std::fill_n(packet.begin(), 4, 0x55);
          stranger.send(packet);
          stranger.announce("", 7);
        }
        stranger.send(std::vector<std::uint8_t>(60'000, 0x55));
        stranger.announce(std::string(3000, 'x'));
        // Who never sends by queue pair is answered each time all the same.
        const Stranger other(at);
        for (int i = 0; i < 100; ++i) {
          // The flood before may have left no room for it.
          int attempts = 0;
          do {
            CHECK(++attempts < 200);
            other.announce("data");
          } while (other.receive(500).empty());
        }
        // More names than there is room for.
        for (int i = 0; i < 1500; ++i) Stranger(at).announce("", 7);
        const int fd = connected(at);
        for (int i = 0; i < 10; ++i) ask(fd, "still there");
        say_the_end(fd);
      });
}

// A queue pair that sends what it likes to an rsocket's.
class StrangeQueuePair {
 public:
  StrangeQueuePair(sockaddr_in at, std::uint32_t to) : to_(to) {
    at.sin_port = 0;
    CHECK(rdma_create_id(nullptr, &id_, nullptr, RDMA_PS_UDP) == 0);
    CHECK(rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(&at)) == 0);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_UD;
    attributes.sq_sig_all = 1;
    attributes.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 64};
    CHECK(rdma_create_qp(id_, nullptr, &attributes) == 0);
    ibv_gid gid;
    CHECK(ibv_query_gid(id_->verbs, 1, kGidIndex, &gid) == 0);
    ibv_ah_attr way = attributes_towards(to, gid).ah_attr;
    way.port_num = 1;
    handle_ = ibv_create_ah(id_->pd, &way);
    CHECK(handle_ != nullptr);
  }

  void send(std::span<const std::uint8_t> message) const {
    ibv_sge segment{reinterpret_cast<std::uintptr_t>(message.data()),
                    static_cast<std::uint32_t>(message.size()), 0};
    ibv_send_wr request{};
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_INLINE;
    request.wr.ud.ah = handle_;
    request.wr.ud.remote_qpn = to_;
    request.wr.ud.remote_qkey = RDMA_UDP_QKEY;
    ibv_send_wr* refused = nullptr;
    CHECK(ibv_post_send(id_->qp, &request, &refused) == 0);
    ibv_wc done;
    int count = 0;
    while ((count = ibv_poll_cq(id_->send_cq, 1, &done)) == 0) {
    }
    CHECK(count == 1 && done.status == IBV_WC_SUCCESS);
  }

 private:
  std::uint32_t to_;
  rdma_cm_id* id_ = nullptr;
  ibv_ah* handle_ = nullptr;
};

std::vector<std::uint8_t> message_of(const sockaddr_in& sender, std::string_view data) {
  std::vector<std::uint8_t> message(8);
  message[0] = 4;
  message[1] = 8;
  std::memcpy(&message[2], &sender.sin_port, 2);
  std::memcpy(&message[4], &sender.sin_addr, 4);
  message.insert(message.end(), data.begin(), data.end());
  return message;
}

TEST_F(RsocketDatagram, BelievesNoSenderThatIsNotWhereItsPacketIsFrom) {
  run(
      [](int fd) {
        char text[16];
        CHECK(rrecv(fd, text, sizeof text, 0) == 5);
        CHECK(has_input(fd, kLastResortMs));
        CHECK(rrecv(fd, text, sizeof text, 0) == 4 && std::memcmp(text, "mine", 4) == 0);
        CHECK(rrecv(fd, text, sizeof text, MSG_DONTWAIT) == -1 && errno == EAGAIN);
      },
      [this](const sockaddr_in& at) {
        Stranger stranger(at);
        const sockaddr_in device = own();
        stranger.announce("hello", 0, device.sin_addr);
        const auto answer = stranger.receive(kLastResortMs);
        CHECK(answer.size() == 16);
        const std::uint32_t number = std::uint32_t{answer[9]} << 16 | answer[10] << 8 | answer[11];
        const StrangeQueuePair queue_pair(device, number);
        const auto header = message_of(stranger.name(), "");
        for (std::size_t cut = 1; cut < header.size(); ++cut) {
          queue_pair.send(std::span(header).first(cut));
        }
        sockaddr_in false_name = stranger.name();
        false_name.sin_addr.s_addr = htonl(0x0a090807);
        queue_pair.send(message_of(false_name, "from elsewhere"));
        false_name = stranger.name();
        false_name.sin_port ^= htons(1);
        queue_pair.send(message_of(false_name, "unknown here"));
        queue_pair.send(message_of(stranger.name(), "mine"));
      });
}

}  // namespace
}  // namespace gdr::test
