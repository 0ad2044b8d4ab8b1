#include "perf/control.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace gdr::perf {
namespace {

// The other end of a connection, which sends what it likes.
class ControlTest : public testing::Test {
 protected:
  ControlTest() : control_(connect()) {}
  UniqueFd connect() {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    other_ = UniqueFd(sockets[1]);
    return UniqueFd(sockets[0]);
  }
  void say(const std::string& bytes) {
    ASSERT_EQ(write(other_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  static std::string framed(std::uint8_t kind, const process::Bytes& bytes) {
    std::string text(5, '\0');
    for (int i = 0; i < 4; ++i) text[i] = static_cast<char>(bytes.size() >> (24 - 8 * i));
    text[4] = static_cast<char>(kind);
    return text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  template <typename Message>
  static std::string framed(const Message& message) {
    return framed(number_of<Message>(), process::encode(message));
  }
  template <typename Message>
  Error refused(Nanoseconds timeout = kSecond) {
    const Result<Message> received = control_.receive<Message>(timeout);
    EXPECT_FALSE(received);
    return received ? Error{} : received.error();
  }

  UniqueFd other_;
  Control control_;
};

const Hello kHello{kMagic, kProtocol, "1.2.3"};

TEST_F(ControlTest, TakesWholeMessagesOneAfterTheOther) {
  say(framed(kHello) + framed(Nothing{}) + framed(kHello));
  EXPECT_EQ(control_.receive<Hello>(kSecond)->version, "1.2.3");
  EXPECT_TRUE(control_.receive<Nothing>(kSecond));
  EXPECT_EQ(control_.receive<Hello>(kSecond)->protocol, kProtocol);
}

TEST_F(ControlTest, SendsLengthAndKindBeforeTheBytes) {
  ASSERT_TRUE(control_.send(kHello));
  const std::string wanted = framed(kHello);
  std::string got(wanted.size(), '\0');
  ASSERT_EQ(read(other_.get(), got.data(), got.size()), static_cast<ssize_t>(got.size()));
  EXPECT_EQ(got, wanted);
}

// A client that is slow must not be taken for one that talks nonsense.
TEST_F(ControlTest, KeepsWhatHasComeOfAMessageWhenTimeIsUp) {
  for (const char byte : framed(kHello)) {
    EXPECT_EQ(refused<Hello>(kMillisecond).code, ETIMEDOUT);
    say(std::string(1, byte));
  }
  const Result<Hello> received = control_.receive<Hello>(kSecond);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->version, "1.2.3");
  say(framed(kHello));
  EXPECT_TRUE(control_.receive<Hello>(kSecond));
}

TEST_F(ControlTest, SaysThatTheOtherEndHasGone) {
  EXPECT_FALSE(control_.is_closed());
  other_.reset();
  EXPECT_TRUE(control_.is_closed());
  EXPECT_EQ(refused<Hello>().code, ECONNRESET);
  EXPECT_EQ(control_.send(kHello).error().code, ECONNRESET);
}

TEST_F(ControlTest, TakesNoMessageThatTheOtherEndLeftUnfinished) {
  const std::string whole = framed(kHello);
  say(whole.substr(0, whole.size() - 1));
  other_.reset();
  EXPECT_EQ(refused<Hello>().code, ECONNRESET);
}

TEST_F(ControlTest, RefusesLengthsThatNoMessageHas) {
  say(std::string("\xff\xff\xff\xff\x02", 5));
  EXPECT_EQ(refused<Hello>().code, EPROTO);
}

TEST_F(ControlTest, RefusesToTalkToProgramsOfAnotherKind) {
  say("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_EQ(refused<Hello>().message, "the other side answered, but it is not gdr perf");
}

TEST_F(ControlTest, SendsNoMessageThatTheOtherSideWouldRefuse) {
  const Failure failure{1, std::string(kLargestMessage, 'x')};
  EXPECT_EQ(control_.send(failure).error().code, EMSGSIZE);
}

TEST_F(ControlTest, RefusesAnotherKindThanIsDue) {
  say(framed(Nothing{}));
  EXPECT_EQ(refused<Hello>().code, EPROTO);
  say(framed(200, {}));
  EXPECT_EQ(refused<Hello>().code, EPROTO);
}

TEST_F(ControlTest, TurnsAFailureIntoItsError) {
  say(framed(Failure{ENOMEM, "no memory there"}));
  const Error error = refused<Hello>();
  EXPECT_EQ(error.code, ENOMEM);
  EXPECT_EQ(error.message, "no memory there");
}

TEST_F(ControlTest, RefusesBytesThatAreNoMessage) {
  process::Bytes bytes = process::encode(kHello);
  bytes.push_back(std::byte{0});
  say(framed(number_of<Hello>(), bytes));
  EXPECT_EQ(refused<Hello>().code, EBADMSG);
}

TEST_F(ControlTest, DoesNotWaitForeverForAnEndThatReadsNothing) {
  const std::string text(1 << 20, 'x');
  std::thread reader([this] {
    usleep(50'000);
    other_.reset();
  });
  Result<void> sent;
  for (int i = 0; i < 64 && sent; ++i) sent = control_.send(Failure{1, text});
  reader.join();
  EXPECT_EQ(sent.error().code, ECONNRESET);
}

TEST(ControlConnect, SaysWhatToTypeWhereNothingListens) {
  // A port that is taken, and listened on by nobody.
  const UniqueFd taken(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(taken.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::uint16_t port = ntohs(address.sin_port);
  const Result<Control> control = Control::connect("127.0.0.1", port);
  ASSERT_FALSE(control);
  const std::string number = std::to_string(port);
  EXPECT_EQ(control.error().message,
            "no server at 127.0.0.1 port " + number +
                " (connect: Connection refused); start one there: gdr perf --server --port " +
                number);
}

}  // namespace
}  // namespace gdr::perf
