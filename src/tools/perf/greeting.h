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

// Whether there is a secret, and each side's part of an agreement on it.
struct Challenge {
  Point point{};
  bool has_secret = false;
  GDR_FIELDS(point, has_secret)
  struct Reply {
    Point point{};
    bool wants_secret = false;
    GDR_FIELDS(point, wants_secret)
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
// Of the client, with a secret.
Result<process::Agreement> agree_with(const Challenge::Reply& server, const process::Share& own,
                                      const Introduction& self);

// The client's half. EPROTO: the server is another program, or speaks another version. EACCES: the
// secrets do not match.
template <typename Talk>
Result<void> greet(Talk& talk, const Introduction& self, const std::optional<Secret>& secret) {
  constexpr Nanoseconds kAnswer = 30 * kSecond;
  const Result<Hello> hello = talk.call(Hello{self.magic, self.protocol, self.version}, kAnswer);
  if (Result<void> known = check_hello(self, hello); !known) return known;
  std::optional<process::Share> own;
  if (secret) own.emplace(secret->key_for(self.program));
  const Result<Challenge::Reply> challenge =
      talk.call(Challenge{own ? own->point() : Point{}, own.has_value()}, kAnswer);
  if (!challenge) return challenge.error();
  Result<void> both = check_challenge(challenge->wants_secret, own.has_value());
  if (!both || !own) return both;
  const Result<process::Agreement> agreement = agree_with(*challenge, *own, self);
  if (!agreement) return agreement.error();
  const Result<Authenticate::Reply> answer =
      talk.call(Authenticate{agreement->proof(process::Side::kClient)}, kAnswer);
  if (Result<void> proved = check_proof(answer, *agreement); !proved) return proved;
  talk.seal(*agreement, process::Side::kClient);
  return {};
}

}  // namespace gdr::perf
