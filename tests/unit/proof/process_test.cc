#include "proof/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "proof/worker.h"

namespace gdr::proof {
namespace {

using process::Connection;

// A worker in a thread of this process, with its client.
class WorkerThread {
 public:
  WorkerThread() {
    auto sockets = Connection::pair();
    client_ = std::make_unique<Client>("worker", Connection(std::move((*sockets)[0])));
    thread_ = std::thread([fd = std::move((*sockets)[1])]() mutable {
      Talk talk(std::move(fd));
      Worker worker;
      serve(worker, talk);
    });
  }
  ~WorkerThread() {
    client_.reset();
    thread_.join();
  }
  Client& client() { return *client_; }

 private:
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
  auto sockets = Connection::pair();
  ASSERT_TRUE(sockets);
  std::thread thread([fd = std::move((*sockets)[1])]() mutable {
    Talk talk(std::move(fd));
    Worker worker;
    serve(worker, talk);
  });
  {
    Connection other(std::move((*sockets)[0]));
    // No such message, a reply, a request that is cut short, one that is too long.
    for (const auto& [kind, bytes] :
         {std::pair{200, Bytes{}},
          {int{Talk::number_of<Nothing>()}, {}},
          {int{Talk::number_of<Prepare>()}, {std::byte{0}}},
          {int{Talk::number_of<DestroyQueue>()}, Bytes(40, std::byte{9})}}) {
      ASSERT_TRUE(other.send_raw(static_cast<std::uint8_t>(kind), bytes));
      const Result<process::Received> answer = other.receive_any(kSecond);
      ASSERT_TRUE(answer) << kind;
      EXPECT_EQ(answer->kind, Talk::number_of<Failure>()) << kind;
    }
  }
  thread.join();
}

TEST(Client, ReportsTheOtherEndsDeathAndFailsAtOnceAfterwards) {
  auto control = Connection::pair();
  Client client("the receiving process", Connection(std::move((*control)[0])),
                [] { return "killed by signal 9"; });
  (*control)[1].reset();
  EXPECT_EQ(client.call(DestroyQueue{1}).error().message,
            "the receiving process died: killed by signal 9");
  EXPECT_FALSE(client.alive());
  EXPECT_FALSE(client.call(DestroyQueue{1}));
}

TEST(Client, GivesUpOnAnEndThatDoesNotAnswer) {
  auto control = Connection::pair();
  Client client("the receiving process", Connection(std::move((*control)[0])));
  const Nanoseconds start = now();
  Result<Nothing> reply = client.call(DestroyQueue{1}, 50 * kMillisecond);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ETIMEDOUT);
  EXPECT_NE(reply.error().message.find("did not answer in time"), std::string::npos);
  EXPECT_LT(now() - start, 20 * kSecond);
}

TEST(Client, TakesAMalformedAnswerForTheEnd) {
  auto control = Connection::pair();
  Client client("the receiving process", Connection(std::move((*control)[0])));
  Connection other(std::move((*control)[1]));
  ASSERT_TRUE(other.send_raw(Talk::number_of<CreateQueue::Reply>(), Bytes(3)));
  EXPECT_EQ(client.call(CreateQueue{}).error().message,
            "the receiving process sent a malformed answer");
  EXPECT_FALSE(client.alive());
}

TEST(WorkerProcess, IsReapedWhenItsOwnerGoes) {
  pid_t first = 0;
  {
    // `sleep` stands for a worker that does not listen: it must be killed by its id.
    auto process = start_worker("the process", "/bin/sleep", {"1000"});
    ASSERT_TRUE(process);
    first = process->worker.pid();
    EXPECT_EQ(kill(first, 0), 0);
  }
  EXPECT_EQ(kill(first, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(WorkerProcess, ThatDiedIsToldWithItsSignal) {
  auto process = start_worker("the process", "/bin/sleep", {"1000"});
  ASSERT_TRUE(process);
  ASSERT_EQ(kill(process->worker.pid(), SIGKILL), 0);
  Result<Nothing> reply = process->client.call(DestroyQueue{1});
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("killed by signal 9"), std::string::npos)
      << reply.error().message;
}

}  // namespace
}  // namespace gdr::proof
