#include "matrix_player.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "xrc_side.h"

namespace gdr::test {
namespace {

constexpr std::array<std::size_t, 9> kSizes = {
    1, 8, 63, 256, 257, 4056, 65'549, 1u << 20, (1u << 20) + 13};
constexpr std::size_t kInlineLimit = 256;
constexpr std::size_t kGrh = 40;
constexpr std::size_t kGuard = 64;  // bytes around each message that must not change
constexpr int kDepth = 2;           // messages in flight on each queue pair
constexpr std::uint8_t kUntouched = 0x5a;

// What message `depth` of a queue pair holds; each side's are others.
std::uint64_t seed_of(int role, std::size_t size, int queue, int depth) {
  return (size * 16 + static_cast<std::uint64_t>(queue)) * 8 +
         static_cast<std::uint64_t>(depth) * 2 + static_cast<std::uint64_t>(role);
}

struct Received {
  std::uint64_t id;
  std::uint32_t bytes;
};

// One of the two processes; both run the same steps.
class Player {
 public:
  Player(const Mode& mode, int role, Wire& wire, int domain)
      : mode_(mode),
        role_(role),
        wire_(wire),
        side_(0, 1024, mode.events),
        datagram_limit_(std::size_t{128} << path_mtu(side_.context())),
        count_(mode.queues == Queues::kOne ? 1 : 8),
        room_(room_of(mode, count_)),
        out_(side_.memory(room_ * count_ * kDepth)),
        in_(side_.memory(room_ * count_ * kDepth)) {
    wire_.send(in_.remote());
    remote_ = wire_.receive<Remote>();
    if (mode.transport == IBV_QPT_XRC_SEND) {
      connect_one_way(domain);
    } else {
      connect();
    }
  }

  void play() {
    for (const std::size_t size : kSizes) {
      if (applies(size)) exchange(size);
    }
  }

 private:
  // Odd, so that messages begin anywhere; but an atomic's word is aligned.
  static std::size_t room_of(const Mode& mode, int count) {
    if (mode.operation == Operation::kAtomic) return 4096;
    return kGuard + kGrh + (count == 1 ? kSizes.back() : 65'549) + kGuard;
  }
  bool applies(std::size_t size) const {
    if (mode_.carried_inline && size > kInlineLimit) return false;
    if (mode_.transport == IBV_QPT_UD && size > datagram_limit_) return false;
    if (mode_.operation == Operation::kAtomic) return size == 8;
    return size + 2 * kGuard + kGrh <= room_;
  }
  bool initiates() const { return role_ == 0 || mode_.both_ways; }
  bool is_target() const { return role_ == 1 || mode_.both_ways; }
  bool two_sided() const { return mode_.operation == Operation::kSend; }
  std::size_t header() const { return mode_.transport == IBV_QPT_UD ? kGrh : 0; }
  // Where message `depth` of a queue pair begins, in either memory.
  std::size_t place(int queue, int depth) const {
    return room_ * static_cast<std::size_t>(queue * kDepth + depth) + kGuard;
  }

  void connect() {
    if (mode_.queues == Queues::kEightShared) {
      ibv_srq_init_attr init{};
      init.attr = {.max_wr = 256, .max_sge = 4, .srq_limit = 0};
      shared_.push_back(ibv_create_srq(side_.domain(), &init));
      require(shared_.back() != nullptr, "a shared receive queue");
    }
    for (int i = 0; i < count_; ++i) {
      ibv_qp* qp = side_.queue_pair(mode_.transport, 64, false, nullptr, shared_of(i));
      queue_pairs_.push_back(qp);
      by_number_[qp->qp_num] = i;
      wire_.send(side_.endpoint(qp));
    }
    for (ibv_qp* qp : queue_pairs_) {
      peers_.push_back(wire_.receive<Endpoint>());
      side_.connect(qp, peers_.back());
    }
    if (mode_.transport == IBV_QPT_UD) handle_ = side_.address_handle(peers_.front());
  }

  // XRC: each connection goes one way, and behind it each request names a queue of the target's.
  void connect_one_way(int domain) {
    ibv_xrcd* xrcd = open_xrcd(side_, domain);
    require(xrcd != nullptr, "an XRC domain");
    std::vector<ibv_qp*> receiving;
    const int queues = mode_.queues == Queues::kEight ? 8 : 1;
    for (int i = 0; is_target() && i < queues; ++i) shared_.push_back(xrc_srq(side_, xrcd));
    for (int i = 0; is_target() && i < count_; ++i) {
      receiving.push_back(xrc_queue_pair(side_, IBV_QPT_XRC_RECV, xrcd));
      by_number_[receiving.back()->qp_num] = i;
      wire_.send(side_.endpoint(receiving.back()));
      wire_.send(number_of(shared_of(i)));
    }
    for (int i = 0; initiates() && i < count_; ++i) {
      queue_pairs_.push_back(xrc_queue_pair(side_, IBV_QPT_XRC_SEND));
      wire_.send(side_.endpoint(queue_pairs_.back()));
    }
    for (ibv_qp* qp : queue_pairs_) {
      connect_xrc(qp, wire_.receive<Endpoint>());
      remote_srqs_.push_back(wire_.receive<std::uint32_t>());
    }
    for (ibv_qp* qp : receiving) connect_xrc(qp, wire_.receive<Endpoint>());
  }

  // Where messages of a connection are received; null: at its queue pair.
  ibv_srq* shared_of(int queue) const {
    if (shared_.empty()) return nullptr;
    return shared_[static_cast<std::size_t>(queue) % shared_.size()];
  }

  void exchange(std::size_t size) {
    prepare(size);
    if (mode_.events) require(ibv_req_notify_cq(side_.queue(), 0) == 0, "armed");
    wire_.meet();
    move(size);
    // The network may lose an unreliable write when a core is not to be had: then it is done again.
    for (int tries = 0; tries < 3 && unreliable_writes() && !both_have_all(size); ++tries) {
      move(size);
    }
    check(size);
    wire_.meet();
  }

  bool unreliable_writes() const { return mode_.transport == IBV_QPT_UC && !two_sided(); }

  void move(std::size_t size) {
    if (initiates()) initiate(size);
    const int all = count_ * kDepth;
    collect(initiates() ? all : 0, is_target() && two_sided() ? all : 0);
    wire_.meet();  // whatever is one-sided has been completed by its initiator
  }

  bool both_have_all(std::size_t size) {
    const char all = !is_target() || wait_for_writes(size) ? 1 : 0;
    wire_.send(all);
    return (wire_.receive<char>() & all) != 0;
  }

  // Before anything moves: own bytes in place, everything else untouched, receives posted.
  void prepare(std::size_t size) {
    out_.fill(kUntouched);
    in_.fill(kUntouched);
    received_.assign(static_cast<std::size_t>(count_), {});
    for (int queue = 0; queue < count_; ++queue) {
      for (int depth = 0; depth < kDepth; ++depth) {
        // A read takes what the target's memory holds, an atomic changes it.
        Memory& source = reads_target() ? in_ : out_;
        source.fill_pattern(seed_of(role_, size, queue, depth), place(queue, depth), size);
        if (!is_target() || !two_sided()) continue;
        const auto id = static_cast<std::uint64_t>(queue * kDepth + depth);
        std::vector<ibv_sge> room = {in_.segment(place(queue, depth), header() + size)};
        if (ibv_srq* shared = shared_of(queue); shared != nullptr) {
          side_.receive(shared, room, id);
        } else {
          side_.receive(queue_pairs_[static_cast<std::size_t>(queue)], room, id);
        }
      }
    }
  }
  bool reads_target() const {
    return mode_.operation == Operation::kRead || mode_.operation == Operation::kAtomic;
  }

  void initiate(std::size_t size) {
    for (int depth = 0; depth < kDepth; ++depth) {
      for (int queue = 0; queue < count_; ++queue) post(size, queue, depth);
    }
  }

  void post(std::size_t size, int queue, int depth) {
    const auto index = static_cast<std::size_t>(queue);
    ibv_send_wr request{};
    request.send_flags = IBV_SEND_SIGNALED;
    if (mode_.carried_inline) request.send_flags |= IBV_SEND_INLINE;
    if (!remote_srqs_.empty()) request.qp_type.xrc.remote_srqn = remote_srqs_[index];
    request.wr.rdma.remote_addr = remote_.address + place(queue, depth);
    request.wr.rdma.rkey = remote_.key;
    switch (mode_.operation) {
      case Operation::kSend:
        request.opcode = IBV_WR_SEND;
        if (mode_.transport == IBV_QPT_UD) {
          request.wr.ud = {
              .ah = handle_, .remote_qpn = peers_[index].number, .remote_qkey = kQueueKey};
        }
        break;
      case Operation::kWrite:
        request.opcode = IBV_WR_RDMA_WRITE;
        break;
      case Operation::kRead:
        request.opcode = IBV_WR_RDMA_READ;
        break;
      case Operation::kAtomic: {
        // Even: adds its own place to the word. Odd: swaps it for its own, comparing rightly.
        const std::uint64_t before = word_before(1 - role_, queue, depth);
        request.opcode = depth % 2 == 0 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
        request.wr.atomic = {.remote_addr = remote_.address + place(queue, depth),
                             .compare_add = depth % 2 == 0 ? index + 1 : before,
                             .swap = ~before,
                             .rkey = remote_.key};
        break;
      }
    }
    side_.post(queue_pairs_[index], request, {out_.segment(place(queue, depth), size)});
  }

  static std::uint64_t word_before(int owner, int queue, int depth) {
    std::uint64_t word;
    auto* bytes = reinterpret_cast<std::uint8_t*>(&word);
    for (std::size_t i = 0; i < sizeof word; ++i) {
      bytes[i] = pattern(seed_of(owner, 8, queue, depth), i);
    }
    return word;
  }
  static std::uint64_t word_after(int owner, int queue, int depth) {
    const std::uint64_t before = word_before(owner, queue, depth);
    return depth % 2 == 0 ? before + static_cast<std::uint64_t>(queue) + 1 : ~before;
  }

  // Until that many sends and receives have completed, all of them well.
  void collect(int sends, int receives) {
    const Nanoseconds end = now() + kLastResort;
    while (true) {
      ibv_wc found{};
      int more = 0;
      while ((more = ibv_poll_cq(side_.queue(), 1, &found)) == 1) {
        require(found.status == IBV_WC_SUCCESS, ibv_wc_status_str(found.status));
        if (found.opcode != IBV_WC_RECV) {
          --sends;
          continue;
        }
        --receives;
        received_[static_cast<std::size_t>(by_number_.at(found.qp_num))].push_back(
            {found.wr_id, found.byte_len});
      }
      require(more == 0 && sends >= 0 && receives >= 0, "no completion more than requests");
      if (sends == 0 && receives == 0) return;
      require(now() < end, "every completion comes");
      if (mode_.events) sleep_until_event();
    }
  }
  void sleep_until_event() {
    pollfd wait{side_.channel()->fd, POLLIN, 0};
    require(poll(&wait, 1, kLastResortMs) == 1, "the wake-up is not lost");
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    require(ibv_get_cq_event(side_.channel(), &queue, &context) == 0, "an event");
    ibv_ack_cq_events(queue, 1);
    require(ibv_req_notify_cq(queue, 0) == 0, "armed again");
  }

  // An unreliable write completes when it has left, and nothing says when it has arrived.
  bool wait_for_writes(std::size_t size) {
    const Nanoseconds end = now() + 20 * kSecond;
    for (int i = 0; i < count_ * kDepth; ++i) {
      const int queue = i / kDepth, depth = i % kDepth;
      while (in_.first_not_pattern(seed_of(1 - role_, size, queue, depth), place(queue, depth),
                                   size) != -1 &&
             now() < end) {
        usleep(100);
      }
    }
    return now() < end;
  }

  // The owner's view of both memories, every byte of them.
  void check(std::size_t size) {
    for (int queue = 0; queue < count_; ++queue) {
      for (int depth = 0; depth < kDepth; ++depth) {
        const std::size_t at = place(queue, depth);
        check_out(size, queue, depth, at);
        if (two_sided() && is_target()) {
          check_received(size, queue, depth);
        } else {
          check_in(size, queue, depth, at);
        }
      }
    }
  }
  void check_out(std::size_t size, int queue, int depth, std::size_t at) {
    if (mode_.operation == Operation::kRead && initiates()) {
      expect_pattern(out_, seed_of(1 - role_, size, queue, depth), at, size);
    } else if (mode_.operation == Operation::kAtomic && initiates()) {
      expect_word(out_, at, word_before(1 - role_, queue, depth));
    } else if (reads_target()) {
      expect_untouched(out_, at, size);
    } else {
      expect_pattern(out_, seed_of(role_, size, queue, depth), at, size);
    }
    expect_guards(out_, at, size);
  }
  void check_in(std::size_t size, int queue, int depth, std::size_t at) {
    if (mode_.operation == Operation::kWrite && is_target()) {
      expect_pattern(in_, seed_of(1 - role_, size, queue, depth), at, size);
    } else if (mode_.operation == Operation::kAtomic && is_target()) {
      expect_word(in_, at, word_after(role_, queue, depth));
    } else if (reads_target()) {
      expect_pattern(in_, seed_of(role_, size, queue, depth), at, size);
    } else {
      expect_untouched(in_, at, size);
    }
    expect_guards(in_, at, size);
  }
  // Message `depth` of a queue pair lies in the receive that it took, in the order of its sender.
  void check_received(std::size_t size, int queue, int depth) {
    const auto& messages = received_[static_cast<std::size_t>(queue)];
    require(messages.size() == kDepth, "each queue pair receives what was sent to it");
    const Received& message = messages[static_cast<std::size_t>(depth)];
    require(message.bytes == header() + size, "the completion says how much came");
    require(mode_.queues == Queues::kEightShared ||
                message.id == static_cast<std::uint64_t>(queue * kDepth + depth),
            "receives are taken in order, from the connection's own queue");
    const std::size_t at = room_ * message.id + kGuard;
    expect_pattern(in_, seed_of(1 - role_, size, queue, depth), at + header(), size);
    expect_guards(in_, at, header() + size);
  }

  void expect_pattern(const Memory& memory, std::uint64_t seed, std::size_t at, std::size_t size) {
    const std::int64_t wrong = memory.first_not_pattern(seed, at, size);
    require(wrong == -1, "a message of " + std::to_string(size) + " B is whole, it differs at " +
                             std::to_string(wrong));
  }
  void expect_word(Memory& memory, std::size_t at, std::uint64_t value) {
    std::uint64_t found;
    std::memcpy(&found, memory.bytes() + at, sizeof found);
    require(found == value, "the word of an atomic");
  }
  void expect_untouched(const Memory& memory, std::size_t at, std::size_t size) {
    require(memory.first_not(kUntouched, at, size) == -1, "nothing came where nothing was sent");
  }
  void expect_guards(const Memory& memory, std::size_t at, std::size_t size) {
    expect_untouched(memory, at - kGuard, kGuard);
    // To the end of the room: no longer message was in it.
    expect_untouched(memory, at + size, room_ - kGuard - size);
  }

  const Mode mode_;
  const int role_;
  Wire& wire_;
  Side side_;
  const std::size_t datagram_limit_;
  const int count_;
  const std::size_t room_;
  Memory& out_;
  Memory& in_;
  std::vector<ibv_srq*> shared_;  // none, one, or one for each connection
  ibv_ah* handle_ = nullptr;
  std::vector<ibv_qp*> queue_pairs_;  // those that send; all but XRC's receive, too
  std::map<std::uint32_t, int> by_number_;
  std::vector<Endpoint> peers_;
  std::vector<std::uint32_t> remote_srqs_;  // XRC: what each connection's requests name
  Remote remote_{};
  std::vector<std::vector<Received>> received_;  // by queue pair, in order
};

}  // namespace

void play(const Mode& mode, int role, Wire& wire, int domain) {
  Player(mode, role, wire, domain).play();
}

}  // namespace gdr::test
