// Claims about the server of `gdr prove` and clients that are not as they should be. The session is
// real, and so are its worker and the stand-ins that it loads.
#include "proof/hosts/session.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "proof/hosts/visit.h"

namespace gdr::proof {
namespace {

constexpr Nanoseconds kPatience = 300 * kSecond;

Options soft_options() {
  Options options;
  options.soft = true;
  options.soft_verbs = GDR_SOFT_VERBS;
  options.soft_cuda = GDR_SOFT_CUDA;
  options.program = GDR_PROGRAM;
  options.facts.host = "there";
  options.facts.version = "1.2.3";
  return options;
}

class ProofSession : public testing::Test {
 protected:
  ProofSession() {
    options_.proof = soft_options();
    client_ = connect();
  }
  ~ProofSession() override { finish(); }

  std::unique_ptr<HostTalk> connect() {
    Result<std::array<UniqueFd, 2>> ends = process::Connection::pair();
    if (!ends) abort();
    threads_.emplace_back([this, end = std::make_shared<UniqueFd>(std::move((*ends)[1]))] {
      Session session(std::move(*end), options_, secret_, booth_, interrupted_);
      const Result<std::string> done = session.serve();
      ended_ = done ? *done : done.error().message;
    });
    return std::make_unique<HostTalk>(std::move((*ends)[0]));
  }
  void finish() {
    client_.reset();
    proof_.reset();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  template <typename Talker, typename Request>
  static std::string ask(Talker& talker, const Request& request) {
    const auto reply = talker.call(request, kPatience);
    return reply ? "" : reply.error().message;
  }
  void greet() {
    ASSERT_EQ(ask(*client_, perf::Hello{kMagic, kProtocol, "9"}), "");
    ASSERT_EQ(ask(*client_, perf::Challenge{}), "");
  }
  void begin() {
    greet();
    Result<FarHost> told = client_->call(Describe{}, kPatience);
    ASSERT_TRUE(told) << told.error().message;
    told_ = *told;
    Result<BeginProof::Reply> begun = client_->call(BeginProof{}, kPatience);
    ASSERT_TRUE(begun) << begun.error().message;
    ticket_ = begun->ticket;
    proof_ = std::make_unique<Talk>(std::move(*client_));
    client_.reset();
  }
  void open() {
    begin();
    Result<Open::Reply> opened =
        proof_->call(Open{"/nowhere/evil.so", "/nowhere/evil.so", "mlx5_0", 7, 99}, kPatience);
    ASSERT_TRUE(opened) << opened.error().message;
    opened_ = *opened;
  }

  ServerOptions options_;
  std::optional<perf::Secret> secret_;
  Booth booth_;
  std::atomic<bool> interrupted_{false};
  std::vector<std::thread> threads_;
  std::string ended_;
  std::unique_ptr<HostTalk> client_;
  std::unique_ptr<Talk> proof_;
  FarHost told_;
  Open::Reply opened_;
  std::uint64_t ticket_ = 0;
};

TEST_F(ProofSession, DoesNothingForAClientThatHasNotGreeted) {
  EXPECT_EQ(ask(*client_, Describe{}), "describe came too early");
  EXPECT_EQ(ask(*client_, BeginProof{}), "the proof came too early");
  EXPECT_EQ(ask(*client_, BeginRows{1}), "a measurement came too early");
  EXPECT_EQ(ask(*client_, perf::Challenge{}), "challenge came too early");
}

TEST_F(ProofSession, ServesNoOtherVersion) {
  ASSERT_EQ(ask(*client_, perf::Hello{kMagic, kProtocol + 1, "9"}), "");
  EXPECT_EQ(ask(*client_, perf::Challenge{}), "challenge came too early");
}

TEST_F(ProofSession, ServesNobodyWithoutTheSecret) {
  char path[] = "/tmp/gdr-secret-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  ASSERT_EQ(write(file, "a secret of its own", 19), 19);
  close(file);
  finish();
  secret_ = *perf::Secret::read(path);
  unlink(path);
  client_ = connect();
  ASSERT_EQ(ask(*client_, perf::Hello{kMagic, kProtocol, "9"}), "");
  ASSERT_EQ(ask(*client_, perf::Challenge{}), "");
  EXPECT_EQ(ask(*client_, Describe{}), "describe came too early");
  EXPECT_NE(ask(*client_, perf::Authenticate{}).find("different secrets"), std::string::npos);
  finish();
  EXPECT_EQ(ended_, "the client has a different secret");
}

TEST_F(ProofSession, TellsWhatItsHostHas) {
  begin();
  EXPECT_TRUE(told_.soft_nic && told_.soft_gpu && told_.soft_requested);
  EXPECT_EQ(told_.facts.host, "there");
  const InventoryReport inventory = inventory_of(told_);
  ASSERT_NE(find_nic(inventory, told_.nic), nullptr);
  EXPECT_EQ(told_.gpu, "GPU 0");
  EXPECT_TRUE(told_.obstacle.seen.empty());
}

TEST_F(ProofSession, OpensItsOwnDevicesWhateverTheClientNames) {
  open();
  EXPECT_FALSE(opened_.gpu.empty());
  EXPECT_TRUE(opened_.ethernet);
}

TEST_F(ProofSession, SendsNothingForAClient) {
  open();
  Result<CreateQueue::Reply> queue = proof_->call(CreateQueue{QueueKind::kUd}, kPatience);
  ASSERT_TRUE(queue);
  ASSERT_EQ(ask(*proof_, Connect{queue->queue, 0, 0, 0, {}, 1}), "");
  Execute send;
  send.queue = queue->queue;
  send.operation = Operation::kSend;
  EXPECT_NE(ask(*proof_, send), "");
  finish();
  EXPECT_NE(ended_.find("unexpected message"), std::string::npos) << ended_;
}

TEST_F(ProofSession, LoadsNoLibraryForAClient) {
  open();
  EXPECT_NE(ask(*proof_, Survey{"/nowhere/evil.so", ""}), "");
  finish();
  EXPECT_NE(ended_.find("unexpected message"), std::string::npos) << ended_;
}

TEST_F(ProofSession, MeasuresOnlyForTheProofThatHasTheTicket) {
  begin();
  std::unique_ptr<HostTalk> other = connect();
  ASSERT_EQ(ask(*other, perf::Hello{kMagic, kProtocol, "9"}), "");
  ASSERT_EQ(ask(*other, perf::Challenge{}), "");
  const std::string refused = "no proof has this ticket, or it is being measured for";
  EXPECT_EQ(ask(*other, BeginRows{ticket_ + 1}), refused);
  EXPECT_EQ(ask(*other, BeginRows{0}), refused);
  EXPECT_EQ(ask(*other, BeginRows{ticket_}), "");
  std::unique_ptr<HostTalk> third = connect();
  ASSERT_EQ(ask(*third, perf::Hello{kMagic, kProtocol, "9"}), "");
  ASSERT_EQ(ask(*third, perf::Challenge{}), "");
  EXPECT_EQ(ask(*third, BeginRows{ticket_}), refused) << "one at a time";
}

TEST_F(ProofSession, HoldsOneProofAtATime) {
  begin();
  std::unique_ptr<HostTalk> other = connect();
  ASSERT_EQ(ask(*other, perf::Hello{kMagic, kProtocol, "9"}), "");
  ASSERT_EQ(ask(*other, perf::Challenge{}), "");
  ASSERT_EQ(ask(*other, Describe{}), "");
  EXPECT_EQ(ask(*other, BeginProof{}), "the server proves for another client; try again later");
}

TEST_F(ProofSession, GrantsMemoryUpToABound) {
  open();
  EXPECT_NE(ask(*proof_, CreateBuffer{MemoryKind::kHost, Registration::kHost, 4ull << 30}), "");
  std::vector<std::uint32_t> made;
  std::string refused;
  for (int i = 0; i < 20 && refused.empty(); ++i) {
    Result<CreateBuffer::Reply> buffer =
        proof_->call(CreateBuffer{MemoryKind::kHost, Registration::kHost, 1 << 20}, kPatience);
    if (buffer) made.push_back(buffer->buffer);
    if (!buffer) refused = buffer.error().message;
  }
  EXPECT_EQ(refused, "the server grants no more memory to one client");
  EXPECT_EQ(made.size(), 8u);
  EXPECT_EQ(ask(*proof_, DestroyBuffer{made.front()}), "");
  EXPECT_EQ(ask(*proof_, CreateBuffer{MemoryKind::kHost, Registration::kHost, 1 << 20}), "");
}

TEST_F(ProofSession, TakesNoFramesThatAreForSomebodyElse) {
  open();
  Result<CreateQueue::Reply> queue = proof_->call(CreateQueue{QueueKind::kRaw}, kPatience);
  ASSERT_TRUE(queue) << queue.error().message;
  const std::string refused = "the server takes no frames that are for somebody else";
  EXPECT_EQ(ask(*proof_, Steer{queue->queue, {1, 2, 3, 4, 5, 6}, opened_.ipv4, 50000}), refused);
  EXPECT_EQ(ask(*proof_, Steer{queue->queue, opened_.mac, opened_.ipv4 + 1, 50000}), refused);
  EXPECT_EQ(ask(*proof_, Steer{queue->queue, opened_.mac, opened_.ipv4, 53}), refused);
  EXPECT_EQ(ask(*proof_, Steer{queue->queue, opened_.mac, opened_.ipv4, 50000}), "");
}

TEST_F(ProofSession, WaitsForNoClientLongerThanItSays) {
  open();
  Result<CreateQueue::Reply> queue = proof_->call(CreateQueue{}, kPatience);
  ASSERT_TRUE(queue);
  EXPECT_EQ(ask(*proof_, AwaitReceive{queue->queue, 600'000}),
            "the server waits no longer than 6 s for a message");
}

TEST_F(ProofSession, LeavesItsPlaceWhenTheClientGoes) {
  begin();
  ASSERT_TRUE(booth_.is_held_by(ticket_));
  finish();
  EXPECT_FALSE(booth_.is_held_by(ticket_));
  EXPECT_EQ(ended_, "proof ended, 0 requests");
}

TEST_F(ProofSession, EndsAtItsLimit) {
  finish();
  options_.session_limit = kSecond;
  client_ = connect();
  begin();
  const Result<process::Received> said = proof_->receive_any(kPatience);
  ASSERT_TRUE(said);
  EXPECT_EQ(Talk::take<Nothing>(*said).error().message,
            "the server on there ended the proof: this server ends a session after 1 s; raise its "
            "--session-limit");
}

TEST_F(ProofSession, EndsWhenTheServerIsInterrupted) {
  begin();
  interrupted_.store(true);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  EXPECT_EQ(ended_, "interrupted");
}

TEST_F(ProofSession, TellsAClientThatWantsHardwareWhatIsMissing) {
  finish();
  options_.proof.soft = false;
  options_.proof.root = "/nowhere";
  client_ = connect();
  greet();
  const Result<FarHost> told = client_->call(Describe{true, true}, kPatience);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_FALSE(told->obstacle.seen.empty());
  EXPECT_EQ(ask(*client_, BeginProof{}), "the proof came too early");
}

}  // namespace
}  // namespace gdr::proof
