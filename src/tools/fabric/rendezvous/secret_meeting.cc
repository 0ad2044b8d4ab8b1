#include "fabric/rendezvous/secret_meeting.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "process/conversation.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kMostGuests = 1024;
constexpr std::size_t kLargestGreeting = 1 << 10;
// Some 300 addresses: a host can have several on each of many interfaces.
constexpr std::size_t kLargestInvitation = 12 << 10;
// A visitor may be one of many on a busy host.
constexpr Nanoseconds kPatience = 20 * kSecond;
constexpr Nanoseconds kAnswer = 5 * kSecond;
constexpr std::uint32_t kMeetingMagic = 0x6764726e;  // changes with these messages

struct Greeting {
  std::uint32_t magic = kMeetingMagic;
  std::string step;
  Point point{};
  GDR_FIELDS(magic, step, point)
};
struct Ask {
  Point point{};
  Proof proof{};
  GDR_FIELDS(point, proof)
};
// Its seal shows that rank 0 knows the secret, too.
struct Told {
  std::string invitation;
  GDR_FIELDS(invitation)
};
using MeetingTalk = process::Conversation<std::tuple<process::Failure, Greeting, Ask, Told>>;

// A number that no rank has.
constexpr std::uint32_t kNoRank = UINT32_MAX;

std::string token_of(const perf::Secret& secret, const std::string& step) {
  std::string text;
  for (const std::uint8_t byte : secret.key_for("gdr fabric " + step)) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

// Whoever stays silent here leaves three quarters of the descriptors to the members of the run.
std::size_t most_guests() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostGuests;
  return std::clamp<std::size_t>(limit.rlim_cur / 4, 1, kMostGuests);
}

}  // namespace

SecretMeeting::SecretMeeting(const perf::Secret& secret, const std::string& step,
                             Invitation invitation)
    : step_(step), most_guests_(most_guests()), invitation_(std::move(invitation)) {
  invitation_.token = token_of(secret, step_);
}

void SecretMeeting::take(UniqueFd visitor) {
  if (guests_.size() >= most_guests_) make_room();
  Guest guest{std::move(visitor), process::FrameBuffer(kLargestGreeting),
              share_of(invitation_.token), now() + kPatience};
  Greeting greeting;
  greeting.step = step_;
  greeting.point = guest.share.point();
  const process::Bytes all =
      process::frame(MeetingTalk::number_of<Greeting>(), process::encode(greeting));
  // It fits into the socket.
  (void)send(guest.fd.get(), all.data(), all.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  guests_.push_back(std::move(guest));
}

void SecretMeeting::go_on() {
  std::erase_if(guests_, [&](Guest& guest) { return now() >= guest.deadline || !hear(guest); });
}

bool SecretMeeting::hear(Guest& guest) {
  std::array<std::byte, kLargestGreeting> piece;
  const ssize_t got = recv(guest.fd.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  guest.arriving.add(std::span(piece).first(static_cast<std::size_t>(got)));
  const Result<std::optional<process::Received>> message = guest.arriving.next();
  if (!message) return false;
  return *message ? answer(guest, **message) : true;
}

bool SecretMeeting::answer(Guest& guest, const process::Received& received) {
  const Result<Ask> ask = MeetingTalk::take<Ask>(received);
  if (!ask) return false;
  const std::optional<process::Agreement> agreement = agree_on(
      guest.share, ask->point, Side::kServer, kNoRank, endpoint_of(guest.fd.get(), Side::kServer));
  if (!agreement || !process::are_equal(ask->proof, agreement->proof(Side::kClient))) return false;
  Invitation told = invitation_;
  told.token.clear();
  process::Seal seal(agreement->frame_key(Side::kServer));
  const process::Bytes all =
      process::frame(MeetingTalk::number_of<Told>(), process::encode(Told{to_text(told)}), &seal);
  (void)send(guest.fd.get(), all.data(), all.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return false;
}

SecretVisit::SecretVisit(const perf::Secret& secret, const std::string& step)
    : step_(step), token_(token_of(secret, step)) {}

Result<Invitation> SecretVisit::pay(UniqueFd connection, Nanoseconds deadline) {
  const Endpoint accepted_at = endpoint_of(connection.get(), Side::kClient);
  MeetingTalk talk(std::move(connection), "it is not rank 0 of this step");
  talk.set_most(kLargestGreeting);
  const auto left = [&] { return deadline - std::min(deadline, now()); };
  const Result<Greeting> greeting = talk.receive<Greeting>(left());
  if (!greeting && greeting.error().code == ETIMEDOUT) return greeting.error();
  if (!greeting || greeting->magic != kMeetingMagic || greeting->step != step_) {
    return Error{EPROTO, "it is not rank 0 of this step"};
  }
  const process::Share own = share_of(token_);
  const std::optional<process::Agreement> agreement =
      agree_on(own, greeting->point, Side::kClient, kNoRank, accepted_at);
  if (!agreement) return Error{EPROTO, "it is not rank 0 of this step"};
  const Ask ask{own.point(), agreement->proof(Side::kClient)};
  if (Result<void> sent = talk.send(ask); !sent) return sent.error();
  talk.seal(*agreement, Side::kClient);
  talk.set_most(kLargestInvitation);
  const Result<Told> told = talk.receive<Told>(kAnswer);
  if (!told) {
    return Error{EACCES, "whoever listens there does not know the secret, or has another one"};
  }
  Result<Invitation> invitation = invitation_from(told->invitation);
  if (invitation) invitation->token = token_;
  return invitation;
}

}  // namespace gdr::fabric
