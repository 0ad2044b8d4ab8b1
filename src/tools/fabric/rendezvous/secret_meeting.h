// What rank 0 and the others say to each other at a meeting point when their user gave them a
// secret. Whoever comes proves first that it knows the secret, and only then is told the
// invitation, sealed; so who sits at such a port has nothing that serves anywhere else, and who
// comes there without the secret has nothing at all.
//
//   SecretMeeting meeting(secret, place.step, invitation);        // rank 0's
//   meeting.take(std::move(visitor));
//   meeting.go_on();                                              // a few times a second
//
//   SecretVisit visit(secret, place.step);                        // the others'
//   Result<Invitation> invitation = visit.pay(std::move(connection), now() + 2 * kSecond);
#pragma once

#include <list>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "fabric/hub/token.h"
#include "fabric/rendezvous/invitation.h"
#include "perf/secret.h"
#include "process/frames.h"

namespace gdr::fabric {

class SecretMeeting {
 public:
  SecretMeeting(const perf::Secret& secret, const std::string& step, Invitation invitation);

  // With the token, which is not told to anybody.
  const Invitation& invitation() const { return invitation_; }
  bool has_guests() const { return !guests_.empty(); }

  void take(UniqueFd visitor);
  // Who has been silent longest goes.
  void make_room() {
    if (!guests_.empty()) guests_.pop_front();
  }
  // Answers whoever has said something. Waits for nobody.
  void go_on();

 private:
  struct Guest {
    UniqueFd fd;
    process::FrameBuffer arriving;
    process::Share share;
    Nanoseconds deadline = 0;
  };
  // False: it goes.
  bool hear(Guest& guest);
  bool answer(Guest& guest, const process::Received& received);

  const std::string step_;
  const std::size_t most_guests_;
  Invitation invitation_;
  std::list<Guest> guests_;
};

class SecretVisit {
 public:
  // `step` outlives this.
  SecretVisit(const perf::Secret& secret, const std::string& step);

  // With the token. EPROTO: it is not rank 0 of this step. EACCES: it has another secret.
  Result<Invitation> pay(UniqueFd connection, Nanoseconds deadline);

 private:
  const std::string& step_;
  const std::string token_;
};

}  // namespace gdr::fabric
