#include "proof/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "proof/worker.h"

namespace gdr::proof {
namespace {

// A worker in a thread of this process, with its client.
class WorkerThread {
 public:
  WorkerThread() {
    auto control = Channel::pair();
    auto link = Channel::pair();
    other_end_ = std::move((*link)[1]);
    client_ = std::make_unique<Client>("worker", std::move((*control)[0]));
    thread_ =
        std::thread([fd = std::move((*control)[1]), link_fd = std::move((*link)[0])]() mutable {
          Channel channel(std::move(fd));
          Worker worker(std::move(link_fd));
          serve(worker, channel);
        });
  }
  ~WorkerThread() {
    client_.reset();
    thread_.join();
  }
  Client& client() { return *client_; }

 private:
  UniqueFd other_end_;
  std::unique_ptr<Client> client_;
  std::thread thread_;
};

TEST(Worker, RefusesWhatNeedsADeviceBeforeOneIsOpen) {
  WorkerThread worker;
  Result<CreateBuffer::Reply> reply =
      worker.client().call(CreateBuffer{MemoryKind::kHost, Registration::kHost, 4096});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "no device open");
  EXPECT_FALSE(worker.client().call(CreateQueue{}));
  EXPECT_TRUE(worker.client().alive()) << "a refused request is no broken conversation";
}

TEST(Worker, RefusesBuffersAndQueuesItDoesNotHave) {
  WorkerThread worker;
  EXPECT_EQ(worker.client().call(Prepare{{7, 0, 1}, 1}).error().message, "no such buffer");
  EXPECT_EQ(worker.client().call(Examine{{7, 0, 1}, 0, 1, 1, 0, {}}).error().message,
            "no such buffer");
  EXPECT_EQ(worker.client().call(DestroyBuffer{7}).error().message, "no such buffer");
  EXPECT_EQ(worker.client().call(AwaitReceive{7, 10}).error().message, "no such queue pair");
  EXPECT_EQ(worker.client().call(Execute{}).error().message, "no such queue pair");
}

TEST(Worker, SaysWhyThereAreNoDevices) {
  WorkerThread worker;
  Result<Survey::Reply> reply = worker.client().call(Survey{"/no/verbs.so", "/no/cuda.so"});
  ASSERT_TRUE(reply);
  EXPECT_NE(reply->verbs_problem.find("/no/verbs.so"), std::string::npos);
  EXPECT_NE(reply->cuda_problem.find("/no/cuda.so"), std::string::npos);
}

TEST(Serve, AnswersNonsenseWithAnErrorAndGoesOn) {
  auto control = Channel::pair();
  ASSERT_TRUE(control);
  std::thread thread([fd = std::move((*control)[1])]() mutable {
    Channel channel(std::move(fd));
    Worker worker{UniqueFd()};
    serve(worker, channel);
  });
  {
    Channel channel(std::move((*control)[0]));
    for (const Bytes& nonsense :
         {Bytes{std::byte{200}}, Bytes{std::byte{0}}, Bytes(40, std::byte{9})}) {
      ASSERT_TRUE(channel.send(nonsense));
      Result<Bytes> answer = channel.receive(kSecond);
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->front(), std::byte{0});
    }
  }
  thread.join();
}

TEST(Client, ReportsTheOtherEndsDeathAndFailsAtOnceAfterwards) {
  auto control = Channel::pair();
  Client client("the receiving process", std::move((*control)[0]),
                [] { return "killed by signal 9"; });
  (*control)[1].reset();
  EXPECT_EQ(client.call(DestroyQueue{1}).error().message,
            "the receiving process died: killed by signal 9");
  EXPECT_FALSE(client.alive());
  EXPECT_FALSE(client.call(DestroyQueue{1}));
}

TEST(Client, GivesUpOnAnEndThatDoesNotAnswer) {
  auto control = Channel::pair();
  Client client("the receiving process", std::move((*control)[0]));
  const Nanoseconds start = now();
  Result<Nothing> reply = client.call(DestroyQueue{1}, 50 * kMillisecond);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ETIMEDOUT);
  EXPECT_NE(reply.error().message.find("did not answer in time"), std::string::npos);
  EXPECT_LT(now() - start, 2 * kSecond);
}

TEST(Client, TakesAMalformedAnswerForTheEnd) {
  auto control = Channel::pair();
  Client client("the receiving process", std::move((*control)[0]));
  Channel other(std::move((*control)[1]));
  ASSERT_TRUE(other.send(Bytes{std::byte{1}, std::byte{2}, std::byte{3}}));
  EXPECT_EQ(client.call(CreateQueue{}).error().message,
            "the receiving process sent a malformed answer");
  EXPECT_FALSE(client.alive());
}

TEST(WorkerProcess, IsReapedWhenItsOwnerGoes) {
  pid_t first = 0;
  {
    // `sleep` stands for a worker that does not listen: it must be killed by its id.
    auto workers = start_workers("/bin/sleep", {"1000"});
    ASSERT_TRUE(workers);
    first = (*workers)[0].pid();
    EXPECT_EQ(kill(first, 0), 0);
  }
  EXPECT_EQ(kill(first, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(WorkerProcess, ThatDiedIsToldWithItsSignal) {
  auto workers = start_workers("/bin/sleep", {"1000"});
  ASSERT_TRUE(workers);
  ASSERT_EQ(kill((*workers)[1].pid(), SIGKILL), 0);
  Result<Nothing> reply = (*workers)[1].client().call(DestroyQueue{1});
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("killed by signal 9"), std::string::npos)
      << reply.error().message;
}

}  // namespace
}  // namespace gdr::proof
