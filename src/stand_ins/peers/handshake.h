// How two processes meet: each proves that it may look into the other, then both show what they
// share. A segment is writable, so whoever has it can have everything that is registered: it is
// handed to nobody whom the kernel would not let debug this process.
//
//   caller                                   answerer
//   kHello: who it is                   ->
//                                       <-   kProof: the caller's secret
//   kShown: the answerer's secret,
//           segment and doorbell        ->
//                                       <-   kShownToo: segment and doorbell
//
// The secret is part of the segment's name, which /proc/PID/fd shows to a process with the right to
// debug that one (ptrace(2), PTRACE_MODE_READ: the same account, no privilege the more, the same
// user and process namespaces; ptrace scopes do not matter). The same account's number is no proof:
// in user namespaces others have it, too, and in containers everybody is root.
//
//   Result<Handshake> meeting = Handshake::call(std::move(connection), own);
//   while (true) {
//     Result<bool> done = meeting->go_on();    // does not wait
//     if (!done || *done) break;
//     wait_until_readable(meeting->connection());
//   }
//   Introduction theirs = meeting->take_introduction();
#pragma once

#include <array>

#include "base/result.h"
#include "base/unique_fd.h"
#include "peers/identity.h"
#include "rnic/segment.h"

namespace gdr::peers {

// What a process shows of itself. Its descriptors are borrowed.
struct Face {
  rnic::Token token = 0;
  int segment = -1;
  int doorbell = -1;  // the outer end (doorbell.h): wakes the service thread
  rnic::Secret secret{};
};

struct Introduction {
  rnic::Token token = 0;
  UniqueFd segment;
  UniqueFd doorbell;
};

class Handshake {
 public:
  // EACCES: the process at the other end is not one to be met.
  static Result<Handshake> call(UniqueFd connection, const Face& own);
  static Result<Handshake> answer(UniqueFd connection, const Face& own);

  // As far as it goes now. True: the other side's introduction is here. EPROTO for a message that
  // is none; EACCES for a wrong proof; ECONNRESET when the other side closed.
  Result<bool> go_on();
  // The answerer's last step, once it knows the caller: who has it may take locks here.
  Result<void> show_too(int connection);

  int connection() const { return connection_.get(); }
  bool has_heard() const { return proved_; }  // the other side's first message
  Introduction take_introduction() { return std::move(introduction_); }
  Identity take_identity() { return std::move(identity_); }
  UniqueFd take_connection() { return std::move(connection_); }

 private:
  Handshake(UniqueFd connection, const Face& own, Identity identity, bool calls)
      : connection_(std::move(connection)),
        own_(own),
        identity_(std::move(identity)),
        calls_(calls) {}
  static Result<Handshake> start(UniqueFd connection, const Face& own, bool calls);
  Result<bool> receive();

  UniqueFd connection_;
  Face own_;
  Identity identity_;
  bool calls_;
  bool proved_ = false;  // this side has heard the other's first message
  Introduction introduction_;
};

}  // namespace gdr::peers
