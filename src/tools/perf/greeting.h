// Greeting: what client and server of gdrkit tell each other over TCP before anything else: which
// program this is, in which version of its protocol, and that both know the secret, if there is
// one. With a secret, all that they say afterwards is sealed. The server's half is
// perf/admission.h.
//
//   Result<void> met = greet(control, {kMagic, kProtocol, version, "gdr perf"}, secret);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "perf/secret.h"
#include "process/codec.h"

namespace gdr::perf {

// Until it is known that the other side may talk at all.
constexpr std::size_t kLargestGreeting = 4 << 10;

struct Hello {
  std::uint32_t magic = 0, protocol = 0;
  std::string version;
  GDR_FIELDS(magic, protocol, version)
  using Reply = Hello;
};

// Whether there is a secret, and both sides' random numbers for it.
struct Challenge {
  Nonce nonce{};
  bool has_secret = false;
  GDR_FIELDS(nonce, has_secret)
  struct Reply {
    Nonce nonce{}, salt{};
    bool wants_secret = false;
    GDR_FIELDS(nonce, salt, wants_secret)
  };
};
// The client knows the secret, and then the server does.
struct Authenticate {
  Digest proof{};
  GDR_FIELDS(proof)
  struct Reply {
    Digest proof{};
    GDR_FIELDS(proof)
  };
};

struct Introduction {
  std::uint32_t magic = 0, protocol = 0;
  std::string version;  // gdrkit's
  std::string program;  // "gdr perf"
};

// Each judges one answer of the server.
Result<void> check_hello(const Introduction& self, const Result<Hello>& answer);
Result<void> check_challenge(bool wants_secret, bool has_secret);
Result<void> check_proof(const Result<Authenticate::Reply>& answer,
                         const process::Agreement& agreement);

// The client's half. EPROTO: the server is another program, or speaks another version. EACCES: the
// secrets do not match.
template <typename Talk>
Result<void> greet(Talk& talk, const Introduction& self, const std::optional<Secret>& secret) {
  constexpr Nanoseconds kAnswer = 30 * kSecond;
  const Result<Hello> hello = talk.call(Hello{self.magic, self.protocol, self.version}, kAnswer);
  if (Result<void> known = check_hello(self, hello); !known) return known;
  const Nonce own = process::random_nonce();
  const Result<Challenge::Reply> challenge = talk.call(Challenge{own, secret.has_value()}, kAnswer);
  if (!challenge) return challenge.error();
  Result<void> agreed = check_challenge(challenge->wants_secret, secret.has_value());
  if (!agreed || !secret) return agreed;
  const process::Agreement agreement(secret->key(challenge->salt), self.program,
                                     {own, challenge->nonce});
  const Result<Authenticate::Reply> answer =
      talk.call(Authenticate{agreement.proof(process::Side::kClient)}, kAnswer);
  if (Result<void> proved = check_proof(answer, agreement); !proved) return proved;
  talk.seal(agreement, process::Side::kClient);
  return {};
}

}  // namespace gdr::perf
