// A server with a secret, and clients with the right one, another one and none.
#include <fcntl.h>
#include <sys/stat.h>

#include "session_fixture.h"

namespace gdr::perf {
namespace {

Secret secret_of(const std::string& text) {
  std::string path = testing::TempDir() + "gdr-secret-XXXXXX";
  const UniqueFd fd(mkstemp(path.data()));
  EXPECT_EQ(write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  Result<Secret> secret = Secret::read(path);
  unlink(path.c_str());
  EXPECT_TRUE(secret) << secret.error().message;
  return *std::move(secret);
}

constexpr const char *kRight = "as long as the night", *kWrong = "as long as the nigh7";

Terms with_secret() {
  Terms terms;
  terms.secret = secret_of(kRight);
  return terms;
}

class SessionSecret : public SessionTest {
 protected:
  SessionSecret() : SessionTest(with_secret()) {}
  std::string meet(const std::optional<Secret>& secret) {
    Client client(*client_, soft_ports(), "1.2.3", {}, never_);
    const Result<void> met = client.greet(secret);
    return met ? "" : met.error().message;
  }
  const std::atomic<bool> never_{false};
};

TEST_F(SessionSecret, LetsInWhoKnowsIt) {
  told_.side.ports.resize(1);
  told_.facts.nics.resize(1);
  EXPECT_EQ(meet(secret_of(std::string(kRight) + "\n")), "");
}

TEST_F(SessionSecret, EndsWithWhoKnowsAnother) {
  EXPECT_EQ(meet(secret_of(kWrong)),
            "client and server have different secrets; give both the same --secret file");
  expect_end();
  EXPECT_EQ(ended_.error().message, "the client has a different secret");
}

TEST_F(SessionSecret, AsksWhoBringsNone) {
  EXPECT_EQ(meet(std::nullopt),
            "the server asks for a secret; give --secret FILE with the server's text");
}

TEST_F(SessionSecret, DoesNothingForWhoHasNotShownIt) {
  ASSERT_NO_FATAL_FAILURE(say_hello());
  EXPECT_EQ(ask(Open{}), "open came too early");
  EXPECT_EQ(ask(Begin{}), "begin came too early");
  EXPECT_EQ(ask(Probe{}), "probe came too early");
}

// What the server would answer, sent back to it, and the answer of an earlier session.
TEST_F(SessionSecret, IsNotShownByWhatWasHeard) {
  ASSERT_EQ(ask(Hello{kMagic, kProtocol, "1.2.3"}), "");
  const process::Share own(secret_of(kRight).key_for("gdr perf"));
  const auto challenge = client_->call(Challenge{own.point(), true}, test::kLastResort);
  ASSERT_TRUE(challenge) << challenge.error().message;
  EXPECT_TRUE(challenge->wants_secret);
  EXPECT_NE(challenge->point, Point{});
  const auto heard =
      process::Agreement::make(own, process::Share(secret_of(kRight).key_for("gdr perf")).point(),
                               process::Side::kClient, "gdr perf");
  EXPECT_NE(ask(Authenticate{heard->proof(process::Side::kClient)}), "");
  expect_end();
}

// Somebody between both has passed on what they proved, and now goes on in the client's name.
TEST_F(SessionSecret, TakesNothingFromWhoTakesTheConnectionOver) {
  ASSERT_EQ(ask(Hello{kMagic, kProtocol, "1.2.3"}), "");
  const process::Share own(secret_of(kRight).key_for("gdr perf"));
  const auto challenge = client_->call(Challenge{own.point(), true}, test::kLastResort);
  ASSERT_TRUE(challenge) << challenge.error().message;
  const auto agreement =
      process::Agreement::make(own, challenge->point, process::Side::kClient, "gdr perf");
  ASSERT_EQ(ask(Authenticate{agreement->proof(process::Side::kClient)}), "");
  EXPECT_TRUE(client_->send(Open{}));
  expect_end();
  EXPECT_EQ(ended_.error().code, EBADMSG);
}

TEST_F(SessionTest, WithoutASecretIsNoneForAClientWithOne) {
  const std::atomic<bool> never{false};
  Client client(*client_, soft_ports(), "1.2.3", {}, never);
  const Result<void> met = client.greet(secret_of(kRight));
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().message,
            "the server has no secret, so it may be anybody's; start it with --secret FILE, or "
            "leave out --secret here");
}

}  // namespace
}  // namespace gdr::perf
