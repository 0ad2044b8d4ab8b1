// Session: the server's side of one client of `gdr prove`, from its first word until it goes.
//
//   Session session(std::move(client), options, secret, booth, interrupted);
//   Result<std::string> done = session.serve();   // "proof ended, 1454 requests", for people
//
// The client is believed nothing: what it may ask for is in hosts/grants.h, the devices are those
// of the server's own command line, and each wait ends when the client goes, when the server is
// interrupted or when its time is up.
#pragma once

#include <mutex>

#include "perf/admission.h"
#include "perf/devices.h"
#include "proof/hosts/server.h"
#include "proof/machine.h"

namespace gdr::proof {

// The one place where a proof goes on, with the ticket of the client that has it.
class Booth {
 public:
  // 0: it is taken.
  std::uint64_t enter(perf::DeviceNames device);
  void leave(std::uint64_t ticket);
  // The port of the proof that has this ticket, for one client at a time; nothing: none has, or
  // somebody measures for it.
  std::optional<perf::DeviceNames> begin_rows(std::uint64_t ticket);
  void end_rows(std::uint64_t ticket);
  bool is_held_by(std::uint64_t ticket);
  // Held by who asks what this host has: that starts a process and a driver.
  std::mutex& inquiry() { return inquiry_; }

 private:
  std::mutex mutex_, inquiry_;
  std::uint64_t ticket_ = 0;  // 0: it is free
  bool measures_ = false;
  perf::DeviceNames device_;
};

class Session {
 public:
  // All but the socket outlive this.
  Session(UniqueFd client, const ServerOptions& options, const std::optional<perf::Secret>& secret,
          Booth& booth, const std::atomic<bool>& interrupted);
  // Its place is free again.
  ~Session();

  // What was done, for people.
  Result<std::string> serve();

 private:
  // Until it is known what the connection is for.
  Result<void> receive_client();
  Result<perf::Hello> handle(const perf::Hello& request);
  Result<perf::Challenge::Reply> handle(const perf::Challenge& request);
  Result<perf::Authenticate::Reply> handle(const perf::Authenticate& request);
  Result<Describe::Reply> handle(const Describe& request);
  Result<BeginProof::Reply> handle(const BeginProof& request);
  Result<Nothing> handle(const BeginRows& request);

  Result<std::string> prove();
  Result<std::string> measure();
  // Why the session ends.
  Result<void> may_go_on() const;

  HostTalk talk_;
  const ServerOptions& options_;
  Booth& booth_;
  const std::atomic<bool>& interrupted_;
  perf::Admission admission_;
  Nanoseconds came_at_;
  std::optional<Machine> machine_;  // once it was described
  std::optional<Selection> chosen_;
  std::uint64_t ticket_ = 0;                 // of the proof that begins here
  std::uint64_t measured_ = 0;               // ticket of the proof that is measured for
  std::optional<perf::DeviceNames> device_;  // of that proof
};

}  // namespace gdr::proof
