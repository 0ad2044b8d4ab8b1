// Threads of one program that post, poll, register and sleep on events at the same time, on the
// same queue pairs, completion queues and shared receive queue; from soft0 to soft1. The thread
// sanitizer looks on where the tests are built with it.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

enum class Traffic { kSends, kSendsToSharedReceives, kAtomics };

struct Mode {
  Traffic traffic;
  bool events;  // pollers sleep on completion events, or yield
};

constexpr std::size_t kPosters = 4;
constexpr std::size_t kQueuePairs = kPosters + 1;  // number 0 is every poster's, one is each's own
constexpr std::size_t kEach = 300;                 // messages of a poster on each of its two
constexpr std::size_t kAll = kPosters * 2 * kEach;
constexpr std::size_t kSlot = 256;  // bytes for each message
constexpr std::uint8_t kUntouched = 0x5a;
constexpr auto kPatience = std::chrono::seconds(300);

// Messages are numbered by poster, then by which of its queue pairs, then in the order of posting.
constexpr std::size_t queue_of(std::size_t message) {
  return message / kEach % 2 == 0 ? 0 : 1 + message / (2 * kEach);
}
constexpr std::size_t size_of(std::size_t message) { return 8 + message * 37 % 200; }
constexpr std::uint8_t byte_of(std::size_t message, std::size_t i) {
  return static_cast<std::uint8_t>(message * 131 + (message >> 8) + i * 7);
}

using Counts = std::array<std::atomic<int>, kAll>;

// A completion queue that several threads poll.
struct Polled {
  ibv_comp_channel* channel = nullptr;
  ibv_cq* queue = nullptr;
  std::size_t expected = 0;
  std::atomic<std::size_t> found = 0;
  int finished = eventfd(0, EFD_CLOEXEC);  // readable from the last completion on: all may go
  ~Polled() { close(finished); }
};

class ManyThreads : public VerbsTest, public testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    far_ = open_device(1);
    ASSERT_NE(far_, nullptr);
    far_pd_ = ibv_alloc_pd(far_);
    ASSERT_NO_FATAL_FAILURE(open(sent_, context_, kAll));
    ASSERT_NO_FATAL_FAILURE(open(received_, far_, is_atomic() ? 0 : kAll));
    if (GetParam().traffic == Traffic::kSendsToSharedReceives) {
      ibv_srq_init_attr init{};
      init.attr = {.max_wr = 16, .max_sge = 1, .srq_limit = 0};
      srq_ = ibv_create_srq(far_pd_, &init);
      ASSERT_NE(srq_, nullptr);
    }
    for (std::size_t i = 0; i < kQueuePairs; ++i) {
      near_qps_.push_back(queue_pair(pd_, sent_.queue, nullptr));
      far_qps_.push_back(queue_pair(far_pd_, received_.queue, srq_));
      connect(near_qps_[i], far_qps_[i]);
    }
    out_mr_ = register_bytes(out_);
    in_mr_ = ibv_reg_mr(far_pd_, in_.data(), in_.size(), kAllAccess);
    word_mr_ = ibv_reg_mr(far_pd_, &word_, sizeof word_, kAllAccess);
    ASSERT_TRUE(in_mr_ != nullptr && word_mr_ != nullptr);
  }
  void TearDown() override {
    if (far_ != nullptr) {
      EXPECT_EQ(ibv_close_device(far_), 0);
    }
    VerbsTest::TearDown();
  }

  bool is_atomic() const { return GetParam().traffic == Traffic::kAtomics; }

  static void open(Polled& polled, ibv_context* context, std::size_t expected) {
    polled.expected = expected;
    polled.channel = ibv_create_comp_channel(context);
    ASSERT_NE(polled.channel, nullptr);
    ASSERT_EQ(fcntl(polled.channel->fd, F_SETFL, O_NONBLOCK), 0);
    polled.queue = ibv_create_cq(context, static_cast<int>(kAll), nullptr, polled.channel, 0);
    ASSERT_NE(polled.queue, nullptr);
    ASSERT_EQ(ibv_req_notify_cq(polled.queue, 0), 0);
  }
  ibv_qp* queue_pair(ibv_pd* pd, ibv_cq* queue, ibv_srq* srq) {
    ibv_qp_init_attr init = attributes(IBV_QPT_RC);
    init.send_cq = init.recv_cq = queue;
    init.srq = srq;
    ibv_qp* qp = ibv_create_qp(pd, &init);
    EXPECT_NE(qp, nullptr) << std::strerror(errno);
    return qp;
  }

  // Ends every thread: the first thing that is wrong is told, what follows from it is not.
  void fail(const std::string& what) {
    if (!failed_.exchange(true)) ADD_FAILURE() << what;
  }
  void require(bool condition, const std::string& claim) {
    if (!condition) fail("not so: " + claim);
  }
  bool goes_on() {
    if (std::chrono::steady_clock::now() > end_) {
      fail("not done in time: " + std::to_string(sent_.found) + " sent, " +
           std::to_string(received_.found) + " received");
    }
    return !failed_;
  }

  // All messages of one poster: lists of one to four, to its two queue pairs by turns.
  void post_all(std::size_t poster) {
    std::array<std::size_t, 2> next{};
    for (std::size_t turn = 0; next[0] < kEach || next[1] < kEach; ++turn) {
      const std::size_t which = turn % 2;
      const std::size_t count = std::min(1 + turn / 2 % 4, kEach - next[which]);
      post_list((poster * 2 + which) * kEach + next[which], count);
      next[which] += count;
      if (!goes_on()) return;
    }
  }
  void post_list(std::size_t first, std::size_t count) {
    std::array<ibv_sge, 4> segments{};
    std::array<ibv_send_wr, 4> list{};
    for (std::size_t i = 0; i < count; ++i) {
      list[i] = request(first + i, segments[i]);
      list[i].next = i + 1 < count ? &list[i + 1] : nullptr;
    }
    for (ibv_send_wr* rest = count > 0 ? list.data() : nullptr; rest != nullptr && goes_on();) {
      ibv_send_wr* bad = nullptr;
      const int error = ibv_post_send(near_qps_[queue_of(first)], rest, &bad);
      if (error == 0) break;
      require(error == ENOMEM, "a list is posted, or as much of it as there is room for");
      rest = bad;
      std::this_thread::yield();
    }
    for (std::size_t i = 0; i < count; ++i) {
      // Inline: the memory is the program's again.
      if ((list[i].send_flags & IBV_SEND_INLINE) != 0) std::memset(slot(out_, first + i), 0, kSlot);
    }
  }
  ibv_send_wr request(std::size_t message, ibv_sge& segment) {
    std::uint8_t* bytes = slot(out_, message);
    segment = {address_of(bytes), static_cast<std::uint32_t>(size_of(message)), out_mr_->lkey};
    ibv_send_wr request{};
    request.wr_id = message;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
    if (is_atomic()) {
      segment.length = 8;
      request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
      request.wr.atomic = {address_of(&word_), 1, 0, word_mr_->rkey};
      return request;
    }
    request.opcode = IBV_WR_SEND;
    if (segment.length <= 64) request.send_flags |= IBV_SEND_INLINE;
    for (std::size_t i = 0; i < segment.length; ++i) bytes[i] = byte_of(message, i);
    const auto number = static_cast<std::uint32_t>(message);
    std::memcpy(bytes, &number, sizeof number);
    return request;
  }
  static std::uint8_t* slot(std::vector<std::uint8_t>& bytes, std::size_t i) {
    return bytes.data() + i * kSlot;
  }

  // Every second receive, starting with that one; a queue that is full has its turn again later.
  void receive_all(std::size_t first) {
    std::vector<std::vector<std::size_t>> left(srq_ != nullptr ? 1 : kQueuePairs);
    for (std::size_t i = first; i < kAll; i += 2) left[queue_of(i) % left.size()].push_back(i);
    for (std::size_t done = 0; done < left.size() && goes_on();) {
      done = 0;
      for (std::size_t queue = 0; queue < left.size(); ++queue) {
        if (!left[queue].empty() && receive_one(queue, left[queue].back())) left[queue].pop_back();
        done += left[queue].empty() ? 1 : 0;
      }
      std::this_thread::yield();
    }
  }
  bool receive_one(std::size_t queue, std::size_t number) {
    ibv_sge segment{address_of(slot(in_, number)), kSlot, in_mr_->lkey};
    ibv_recv_wr request{};
    request.wr_id = number;
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    const int error = srq_ != nullptr ? ibv_post_srq_recv(srq_, &request, &bad)
                                      : ibv_post_recv(far_qps_[queue], &request, &bad);
    require(error == 0 || error == ENOMEM, "a receive is posted, or there is no room for it");
    return error == 0;
  }

  // One of the threads that poll that queue, up to `most` at once.
  void poll_all(Polled& polled, std::size_t most) {
    std::array<ibv_wc, 16> found{};
    while (polled.found < polled.expected && goes_on()) {
      const int count = ibv_poll_cq(polled.queue, static_cast<int>(most), found.data());
      require(count >= 0, "the completion queue can be polled");
      for (int i = 0; i < count; ++i) check(found[static_cast<std::size_t>(i)]);
      if (count > 0 && polled.found.fetch_add(static_cast<std::size_t>(count)) +
                               static_cast<std::size_t>(count) >=
                           polled.expected) {
        eventfd_write(polled.finished, 1);
      }
      if (count > 0) continue;
      if (GetParam().events) {
        sleep_until_event(polled);
      } else {
        std::this_thread::yield();
      }
    }
    eventfd_write(polled.finished, 1);  // after a failure: the others need not sleep on
  }
  void sleep_until_event(const Polled& polled) {
    std::array<pollfd, 2> waits = {pollfd{polled.channel->fd, POLLIN, 0},
                                   pollfd{polled.finished, POLLIN, 0}};
    require(poll(waits.data(), waits.size(), kLastResortMs) > 0, "no wake-up is lost");
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    if (ibv_get_cq_event(polled.channel, &queue, &context) != 0) {
      require(errno == EAGAIN, "an event, or another thread took it");
      return;
    }
    ibv_ack_cq_events(queue, 1);
    require(ibv_req_notify_cq(queue, 0) == 0, "armed again, before it is polled again");
  }

  void check(const ibv_wc& found) {
    require(found.status == IBV_WC_SUCCESS, ibv_wc_status_str(found.status));
    if (failed_) return;
    const std::size_t id = found.wr_id;
    require(id < kAll, "the number of a request that was posted");
    if (found.opcode == IBV_WC_RECV) return check_received(found, slot(in_, id));
    require(found.qp_num == near_qps_[queue_of(id)]->qp_num,
            "the queue pair that it was posted on");
    ++sends_[id];
  }
  void check_received(const ibv_wc& found, const std::uint8_t* bytes) {
    ++receives_[found.wr_id];
    std::uint32_t message = 0;
    std::memcpy(&message, bytes, sizeof message);
    require(message < kAll && found.byte_len == size_of(message), "a message in its length");
    if (failed_) return;
    ++arrivals_[message];
    require(found.qp_num == far_qps_[queue_of(message)]->qp_num, "through its own queue pair");
    for (std::size_t i = sizeof message; i < kSlot; ++i) {
      require(bytes[i] == (i < found.byte_len ? byte_of(message, i) : kUntouched),
              "byte " + std::to_string(i) + " of message " + std::to_string(message));
      if (failed_) return;
    }
  }

  // Registers memory on both sides, writes from one to the other, deregisters it, and so on.
  void register_all(const std::atomic<bool>& stop) {
    ibv_cq* queue = ibv_create_cq(context_, 4, nullptr, nullptr, 0);
    ibv_qp *from = queue_pair(pd_, queue, nullptr),
           *to = queue_pair(far_pd_, received_.queue, nullptr);
    connect(from, to);
    std::vector<std::uint8_t> source(8192), target(8192);
    for (int round = 0; (round == 0 || !stop) && goes_on(); ++round) {
      std::fill(source.begin(), source.end(), static_cast<std::uint8_t>(round));
      ibv_mr* local = ibv_reg_mr(pd_, source.data(), source.size(), kAllAccess);
      ibv_mr* remote = ibv_reg_mr(far_pd_, target.data(), target.size(), kAllAccess);
      require(local != nullptr && remote != nullptr, "memory is registered");
      if (local == nullptr || remote == nullptr) break;
      ibv_sge segment = segment_of(local);
      ibv_send_wr write = write_request(&segment, address_of(target.data()), remote->rkey);
      ibv_send_wr* bad = nullptr;
      require(ibv_post_send(from, &write, &bad) == 0, "a write is posted");
      require(wait_for_completion(queue).status == IBV_WC_SUCCESS, "a write is carried out");
      require(ibv_dereg_mr(local) == 0 && ibv_dereg_mr(remote) == 0, "memory is deregistered");
      require(source == target, "what was written is there");
    }
    EXPECT_EQ(ibv_destroy_qp(from), 0);
    EXPECT_EQ(ibv_destroy_qp(to), 0);
    EXPECT_EQ(ibv_destroy_cq(queue), 0);
  }

  void run_all() {
    std::atomic<bool> stop = false;
    std::vector<std::thread> registering, threads;
    for (int i = 0; i < 2; ++i) registering.emplace_back([&] { register_all(stop); });
    for (std::size_t i = 0; i < 3; ++i) {
      threads.emplace_back([this, i] { poll_all(received_, 1 + 7 * i); });
      threads.emplace_back([this, i] { poll_all(sent_, 1 + 7 * i); });
    }
    for (std::size_t i = 0; i < kPosters; ++i) threads.emplace_back([this, i] { post_all(i); });
    for (std::size_t i = 0; i < 2 && !is_atomic(); ++i) {
      threads.emplace_back([this, i] { receive_all(i); });
    }
    for (std::thread& thread : threads) thread.join();
    stop = true;
    for (std::thread& thread : registering) thread.join();
  }

  // One by one: an event that was taken and not acknowledged would be waited for here.
  void destroy_all() {
    for (ibv_qp* qp : near_qps_) EXPECT_EQ(ibv_destroy_qp(qp), 0);
    for (ibv_qp* qp : far_qps_) EXPECT_EQ(ibv_destroy_qp(qp), 0);
    if (srq_ != nullptr) {
      EXPECT_EQ(ibv_destroy_srq(srq_), 0);
    }
    EXPECT_EQ(ibv_destroy_cq(sent_.queue), 0);
    EXPECT_EQ(ibv_destroy_cq(received_.queue), 0);
  }

  static void expect_each_once(const Counts& counts, const char* what) {
    for (std::size_t i = 0; i < kAll; ++i) ASSERT_EQ(counts[i], 1) << what << " " << i;
  }

  ibv_context* far_ = nullptr;
  ibv_pd* far_pd_ = nullptr;
  ibv_srq* srq_ = nullptr;
  std::vector<ibv_qp*> near_qps_, far_qps_;
  std::vector<std::uint8_t> out_ = std::vector<std::uint8_t>(kAll * kSlot);
  std::vector<std::uint8_t> in_ = std::vector<std::uint8_t>(kAll * kSlot, kUntouched);
  alignas(8) std::uint64_t word_ = 0;  // what atomics add to
  ibv_mr *out_mr_ = nullptr, *in_mr_ = nullptr, *word_mr_ = nullptr;
  Polled sent_, received_;
  Counts sends_{}, receives_{}, arrivals_{};
  std::atomic<bool> failed_ = false;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kPatience;
};

TEST_P(ManyThreads, HaveEachRequestCarriedOutAndCompletedOnce) {
  run_all();
  ASSERT_FALSE(failed_);
  expect_each_once(sends_, "request");
  ibv_wc more{};
  EXPECT_EQ(ibv_poll_cq(sent_.queue, 1, &more), 0);
  EXPECT_EQ(ibv_poll_cq(received_.queue, 1, &more), 0);
  destroy_all();
  if (!is_atomic()) {
    expect_each_once(receives_, "receive");
    expect_each_once(arrivals_, "message");
    return;
  }
  EXPECT_EQ(word_, kAll);
  Counts seen{};
  for (std::size_t i = 0; i < kAll; ++i) {
    std::uint64_t before = 0;
    std::memcpy(&before, slot(out_, i), sizeof before);
    ASSERT_LT(before, kAll);
    ++seen[before];
  }
  expect_each_once(seen, "the word's value");
}

std::string name_of(const testing::TestParamInfo<Mode>& info) {
  const std::array<const char*, 3> names = {"Sends", "SendsToSharedReceives", "Atomics"};
  return names[static_cast<std::size_t>(info.param.traffic)] +
         std::string(info.param.events ? "Events" : "Polling");
}

INSTANTIATE_TEST_SUITE_P(EveryTraffic, ManyThreads,
                         testing::Values(Mode{Traffic::kSends, false}, Mode{Traffic::kSends, true},
                                         Mode{Traffic::kSendsToSharedReceives, false},
                                         Mode{Traffic::kSendsToSharedReceives, true},
                                         Mode{Traffic::kAtomics, false},
                                         Mode{Traffic::kAtomics, true}),
                         name_of);

}  // namespace
}  // namespace gdr::test
