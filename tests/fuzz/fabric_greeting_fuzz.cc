// What a member of gdr fabric may hear of whoever says that it is its collector, and what both
// sides of a meeting point may hear under a secret: any bytes, and right messages spoiled. Who has
// not proved that it knows the token or the secret is told nothing.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "fabric/member/examination.h"
#include "fabric/member/member.h"
#include "fabric/rendezvous/secret_meeting.h"
#include "host/files.h"
#include "input.h"

namespace gdr {
// So that an input always means the same.
std::uint64_t drawn = 0;
std::uint64_t random_u64() { return ++drawn * 0x9e3779b97f4a7c15; }
}  // namespace gdr

namespace gdr::host {
// Nothing is read of this machine.
Root::Root(const std::string&) : is_whole_(true) {}
std::string Files::line(const std::string&) const { return "boot"; }
}  // namespace gdr::host

namespace gdr::fabric {

// Starts programs.
Examination::Examination(std::string, std::string, std::vector<MemberRail>) {}
Examined Examination::ask() const { return {}; }

namespace {

using process::Seal;
using test::Input;
using test::require;

constexpr const char *kVersion = "1.2.3", *kToken = "of the run", *kStep = "17.2";

void put(int to, const Bytes& bytes) {
  (void)send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string text_of(Input& input) {
  std::string text;
  for (const char letter : input.bytes<char>(input.byte())) text += letter;
  return text;
}

// A member, and whoever says that it is its collector. None that is right has it begin: that starts
// a process.
void serve_hostile_collector(Input& input) {
  auto ends = *process::Connection::pair();
  const int collector = ends[0].get();
  // The member draws the same, so that it is known here what it will say.
  drawn = 0;
  const Point members = share_of(kToken).point();
  const bool knows = input.byte() != 5;
  const process::Share own = share_of(knows ? kToken : "another");
  drawn = 0;
  Welcome welcome;
  welcome.version = kVersion;
  welcome.point = own.point();
  const std::uint8_t wrong = input.byte();
  if (wrong == 1) welcome.version = text_of(input);
  if (wrong == 2) welcome.magic = input.byte();
  if (wrong == 3) welcome.protocol = input.byte();
  put(collector, wrong == 4 ? input.bytes(input.byte())
                            : process::frame(Talk::number_of<Welcome>(), process::encode(welcome)));
  const process::Agreement agreement =
      *agree_on(own, members, Side::kServer, 3, wrong == 6 ? Endpoint{1} : Endpoint{});
  if (wrong != 7) {
    const Admitted admitted{agreement.proof(wrong == 8 ? Side::kClient : Side::kServer)};
    put(collector, process::frame(Talk::number_of<Admitted>(), process::encode(admitted)));
  }
  Seal seal(agreement.frame_key(wrong == 9 ? Side::kClient : Side::kServer));
  while (!input.empty()) {
    const std::uint8_t kind = input.byte() % 20;
    if (kind == Talk::number_of<Begin>()) continue;
    const Bytes bytes = input.bytes(input.byte());
    put(collector, process::frame(kind, bytes, input.byte() == 1 ? nullptr : &seal));
  }
  shutdown(collector, SHUT_WR);
  MemberOptions options;
  options.rank = 3;
  options.token = kToken;
  options.version = kVersion;
  options.root = "/nonexistent";
  (void)serve_collector(std::move(ends[1]), options);
  process::FrameBuffer said(1 << 20);
  std::byte piece[8192];
  for (ssize_t got; (got = recv(collector, piece, sizeof piece, MSG_DONTWAIT)) > 0;) {
    said.add(std::span(piece).first(static_cast<std::size_t>(got)));
  }
  // Who has not proved that it knows the token is told nothing but the proof for it.
  const bool has_proved = knows && wrong != 2 && wrong != 4 && !(wrong >= 6 && wrong <= 8);
  for (std::size_t count = 0;; ++count) {
    const auto message = said.next();
    require(static_cast<bool>(message));
    if (!*message) break;
    require(count == 0 ? (*message)->kind == Talk::number_of<Knock>() : has_proved);
  }
}

const perf::Secret& secret() {
  static const perf::Secret only = [] {
    char path[] = "/tmp/gdr-fuzz-XXXXXX";
    const UniqueFd file(mkstemp(path));
    require(write(file.get(), "known to few people", 19) == 19);
    const perf::Secret read = *perf::Secret::read(path);
    unlink(path);
    return read;
  }();
  return only;
}

std::string all_from(int fd) {
  std::string said;
  char piece[4096];
  for (ssize_t got; (got = recv(fd, piece, sizeof piece, MSG_DONTWAIT)) > 0;) {
    said.append(piece, static_cast<std::size_t>(got));
  }
  return said;
}

void visit_meeting_point(Input& input) {
  SecretMeeting meeting(secret(), kStep, {{"an.address.of.rank.0"}, 18600, ""});
  for (int guests = 0; !input.empty() && guests < 8; ++guests) {
    auto ends = *process::Connection::pair();
    meeting.take(std::move(ends[0]));
    while (!input.empty() && input.byte() != 0) {
      put(ends[1].get(), input.bytes(input.byte()));
      meeting.go_on();
    }
    meeting.go_on();
    require(all_from(ends[1].get()).find("an.address") == std::string::npos);
  }
}

void meet_hostile_rank_0(Input& input) {
  const std::string step = kStep;
  SecretVisit visit(secret(), step);
  SecretMeeting meeting(secret(), kStep, {{"n1"}, 18600, ""});
  for (int visits = 0; !input.empty() && visits < 4; ++visits) {
    auto ends = *process::Connection::pair();
    if (input.byte() % 2 == 0) {
      // The greeting of the right one, and then what it never says.
      auto right = *process::Connection::pair();
      meeting.take(std::move(right[0]));
      const std::string greeting = all_from(right[1].get());
      (void)send(ends[0].get(), greeting.data(), greeting.size(), MSG_NOSIGNAL);
    }
    while (!input.empty() && input.byte() != 0) put(ends[0].get(), input.bytes(input.byte()));
    shutdown(ends[0].get(), SHUT_WR);
    require(!visit.pay(std::move(ends[1]), now() + kSecond));
  }
}

}  // namespace
}  // namespace gdr::fabric

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gdr::test::Input input(data, size);
  gdr::drawn = 0;
  switch (input.byte() % 3) {
    case 0:
      gdr::fabric::serve_hostile_collector(input);
      break;
    case 1:
      gdr::fabric::visit_meeting_point(input);
      break;
    default:
      gdr::fabric::meet_hostile_rank_0(input);
  }
  return 0;
}
