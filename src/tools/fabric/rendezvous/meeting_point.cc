#include "fabric/rendezvous/meeting_point.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/environment.h"
#include "perf/dial.h"
#include "process/conversation.h"

namespace gdr::fabric {
namespace {

// "gdr-meet 17.2 munge CREDENTIAL\n", or "gdr-meet 17.2 plain INVITATION\n"
constexpr std::string_view kFirst = "gdr-meet";
constexpr std::size_t kMostBytes = 64 << 10;
constexpr Nanoseconds kLook = 100 * kMillisecond;  // whether it is over
constexpr Nanoseconds kShortLook = 5 * kMillisecond;
constexpr Nanoseconds kPatience = 2 * kSecond;  // with one connection
constexpr unsigned kPauseMicroseconds = 50'000;

Result<std::string> read_to_end(const UniqueFd& connection, Nanoseconds deadline) {
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() < kMostBytes) {
    if (Result<void> ready = process::wait_for(connection.get(), POLLIN, deadline); !ready) {
      return ready.error();
    }
    const ssize_t got = recv(connection.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return from_errno("recv");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return Error{EPROTO, "it says too much"};
}

// Without the word in front.
Result<std::string> behind(std::string_view text, std::string_view word) {
  if (text.substr(0, word.size()) != word || text.substr(word.size(), 1) != " ") {
    return Error{EPROTO, "it is not rank 0 of this step"};
  }
  return std::string(text.substr(word.size() + 1));
}

Result<Invitation> read_answer(const std::string& answer, const std::string& step,
                               const Munge* munge) {
  Result<std::string> rest = behind(answer, kFirst);
  if (rest) rest = behind(*rest, step);
  if (!rest || !rest->ends_with('\n')) return Error{EPROTO, "it is not rank 0 of this step"};
  rest->pop_back();
  const bool is_sealed = rest->starts_with("munge ");
  const Result<std::string> told = behind(*rest, is_sealed ? "munge" : "plain");
  if (!told) return told.error();
  if (!is_sealed) {
    if (munge == nullptr) return invitation_from(*told);
    return Error{EACCES, "it shows no credential of MUNGE, which works here"};
  }
  if (munge == nullptr) {
    return Error{EACCES,
                 "it shows a credential of MUNGE, which does not work here (--secret FILE goes "
                 "without)"};
  }
  const Result<std::string> opened = munge->unseal(*told);
  if (!opened) return opened.error();
  // An older credential of this user could be for another step.
  const Result<std::string> invitation = behind(*opened, step);
  if (!invitation) return invitation.error();
  return invitation_from(*invitation);
}

Result<Invitation> ask(const Place& place, std::uint16_t port, SecretVisit* visit,
                       const Munge* munge, Nanoseconds deadline) {
  const Nanoseconds end = std::min(deadline, now() + kPatience);
  Result<UniqueFd> connection = perf::connect_within(place.host, port, end);
  if (!connection) return connection.error();
  if (visit != nullptr) return visit->pay(*std::move(connection), end);
  const Result<std::string> answer = read_to_end(*connection, end);
  if (!answer) return answer.error();
  return read_answer(*answer, place.step, munge);
}

std::unique_ptr<Munge> working_munge() {
  const Result<Munge> munge = Munge::open();
  return munge ? std::make_unique<Munge>(*munge) : nullptr;
}

}  // namespace

Result<std::unique_ptr<MeetingPoint>> MeetingPoint::open(
    const Place& place, const Invitation& invitation, const std::optional<perf::Secret>& secret) {
  std::unique_ptr<MeetingPoint> point(new MeetingPoint);
  if (secret) {
    point->meeting_.emplace(*secret, place.step, invitation);
  } else {
    point->munge_ = working_munge();
  }
  point->step_ = place.step;
  point->told_ = invitation;
  // Everybody could read it.
  if (point->munge_ == nullptr) point->told_.token.clear();
  Error refused{EINVAL, "no port is named"};
  for (const std::uint16_t port : place.ports) {
    Result<perf::Listening> listening = perf::listen_on("any", port);
    if (!listening) {
      refused = listening.error();
      continue;
    }
    point->listening_ = *std::move(listening);
    point->thread_ = std::thread([serving = point.get()] { serving->serve(); });
    return point;
  }
  return Error{refused.code,
               fmt::format("rank 0 of Slurm step {} cannot listen on TCP ports {} to {} ({})",
                           place.step, place.ports.front(), place.ports.back(), refused.message)};
}

MeetingPoint::~MeetingPoint() {
  is_over_ = true;
  if (thread_.joinable()) thread_.join();
}

std::string MeetingPoint::answer() const {
  if (munge_ != nullptr) {
    // A new one for each, since every rank of a host must be able to unseal its own.
    const Result<std::string> sealed = munge_->seal(step_ + " " + to_text(told_));
    return sealed ? fmt::format("{} {} munge {}\n", kFirst, step_, *sealed) : std::string();
  }
  return fmt::format("{} {} plain {}\n", kFirst, step_, to_text(told_));
}

// What is told fits into the socket, so nobody holds this up.
void MeetingPoint::serve() {
  while (!is_over_) {
    if (meeting_) meeting_->go_on();
    const bool has_guests = meeting_ && meeting_->has_guests();
    Result<perf::Visitor> visitor = listening_.accept(has_guests ? kShortLook : kLook);
    if (!visitor) {
      if (visitor.error().code == ETIMEDOUT) continue;
      if (meeting_) meeting_->make_room();  // for a descriptor
      usleep(kPauseMicroseconds);
      continue;
    }
    if (meeting_) {
      meeting_->take(std::move(visitor->fd));
      continue;
    }
    const std::string text = answer();
    (void)send(visitor->fd.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

Result<Invitation> visit(const Place& place, const std::optional<perf::Secret>& secret,
                         Nanoseconds deadline) {
  std::optional<SecretVisit> with_secret;
  if (secret) with_secret.emplace(*secret, place.step);
  const std::unique_ptr<Munge> munge = secret ? nullptr : working_munge();
  std::string reasons;
  for (;;) {
    std::string failed;
    std::string before;
    for (const std::uint16_t port : place.ports) {
      Result<Invitation> invitation =
          ask(place, port, with_secret ? &*with_secret : nullptr, munge.get(), deadline);
      if (invitation) return invitation;
      if (invitation.error().message != before) {
        before = invitation.error().message;
        failed += fmt::format("{}port {}: {}", failed.empty() ? "" : "; ", port, before);
      }
      if (now() >= deadline) break;
    }
    // A last pass that ran out of time did not ask at every port.
    if (reasons.empty() || now() < deadline) reasons = failed;
    if (now() >= deadline) break;
    usleep(kPauseMicroseconds);
  }
  return Error{ETIMEDOUT, fmt::format("rank 0 on {} did not say where it listens ({}); it may not "
                                      "have started, or a firewall is between the nodes",
                                      place.host, reasons)};
}

}  // namespace gdr::fabric
