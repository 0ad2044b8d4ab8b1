// Where the ranks of a Slurm step without PMIx get their invitation: rank 0 tells it to whoever
// connects to the first of a few ports that is free. With MUNGE only this user's processes can read
// it, and they see that one of theirs wrote it. With a secret of the user's it is told to nobody
// who does not know it, and MUNGE is not asked.
//
//   Place place{"17.2", "n1", {20090, 20091}};
//   Result<std::unique_ptr<MeetingPoint>> open = MeetingPoint::open(place, invitation, secret);
//   Result<Invitation> invitation = visit(place, secret, now() + 30 * kSecond);   // the others
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "fabric/rendezvous/invitation.h"
#include "fabric/rendezvous/munge.h"
#include "fabric/rendezvous/secret_meeting.h"
#include "perf/listen.h"

namespace gdr::fabric {

struct Place {
  std::string step;  // "17.2": ranks of another one may have the same ports
  std::string host;  // rank 0's
  std::vector<std::uint16_t> ports;
};

class MeetingPoint {
 public:
  // Open until this goes.
  static Result<std::unique_ptr<MeetingPoint>> open(const Place& place,
                                                    const Invitation& invitation,
                                                    const std::optional<perf::Secret>& secret);
  MeetingPoint(const MeetingPoint&) = delete;
  MeetingPoint& operator=(const MeetingPoint&) = delete;
  ~MeetingPoint();

  // What the others will have. Without a token where nothing seals it.
  const Invitation& told() const { return meeting_ ? meeting_->invitation() : told_; }

 private:
  MeetingPoint() = default;
  void serve();
  std::string answer() const;

  perf::Listening listening_;
  std::string step_;
  Invitation told_;
  std::unique_ptr<Munge> munge_;
  std::optional<SecretMeeting> meeting_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// ETIMEDOUT: nobody told it until the deadline; why not. Where MUNGE works on this host, nothing
// is believed without it.
Result<Invitation> visit(const Place& place, const std::optional<perf::Secret>& secret,
                         Nanoseconds deadline);

}  // namespace gdr::fabric
