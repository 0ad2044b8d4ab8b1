// Session: the server's side of one client, from its first word until it goes, whichever way.
//
//   Session session(control, ports, told, interrupted, terms, stage);
//   Result<void> ended = session.serve();   // also when the client has vanished: an error
//
// The client believes to lead, and is believed nothing: what it says is checked before it is done,
// each wait ends when it goes, when the server is interrupted or when its time is up, and no load
// goes to a place that has not answered a probe.
#pragma once

#include <functional>
#include <optional>

#include "perf/admission.h"
#include "perf/choice.h"
#include "perf/control.h"
#include "perf/crew.h"
#include "perf/probe.h"
#include "perf/stage.h"

namespace gdr::perf {

// What a server grants its clients.
struct Terms {
  std::optional<Secret> secret;            // that they must know
  std::optional<Nanoseconds> whole;        // time from Begin on; nothing: as long as it takes
  Nanoseconds greeting = 10 * kSecond;     // until it is known who it is
  Nanoseconds before_plan = 60 * kSecond;  // until Begin; it keeps nobody waiting
  Nanoseconds patience = 60 * kSecond;     // between two messages, where no row runs
  Nanoseconds others = 20 * kSecond;       // until another client has done measuring
  std::vector<int> processors;             // threads are bound to them
  TickClock clock = TickClock::calibrate();
};

class Session {
 public:
  // `told`: what the client is told of the server.
  Session(Control& control, const Ports& ports, const Description& told,
          const std::atomic<bool>& interrupted, const Terms& terms, Stage& stage)
      : control_(control),
        ports_(ports),
        told_(told),
        interrupted_(interrupted),
        terms_(terms),
        stage_(stage),
        admission_({kMagic, kProtocol, told.side.version, "gdr perf"}, terms_.secret) {}
  ~Session();

  Result<void> serve();
  std::uint64_t rows() const { return rows_; }

 private:
  Result<void> talk();
  Result<void> answer(const Received& received);
  Result<Hello> handle(const Hello& request);
  Result<Challenge::Reply> handle(const Challenge& request);
  Result<Authenticate::Reply> handle(const Authenticate& request);
  Result<Open::Reply> handle(const Open&);
  Result<Nothing> handle(const Begin& request);
  Result<SetUp::Reply> handle(const SetUp& request);
  Result<Nothing> handle(const Probe& request);
  Result<Nothing> handle(const ProbeAnswer& request);
  Result<Nothing> handle(const Connect& request);
  Result<Nothing> handle(const Start& request);
  Result<Nothing> handle(const FillWindow& request);
  Result<Nothing> handle(const MoveWindow& request);
  Result<VerifyWindow::Reply> handle(const VerifyWindow& request);
  Result<Finish::Reply> handle(const Finish& request);
  Result<Nothing> handle(const TearDown&);
  // Without an exception.
  template <typename Request>
  auto carry_out(const Request& request) -> decltype(handle(request));

  // Whether the client may say or do something more: else why not.
  Result<void> has_time() const;
  // As GoOn. Cheap.
  bool go_on();
  Result<void> check_destinations(const SideAddress& theirs) const;
  Result<Destination> destination(std::size_t port, std::uint16_t lid,
                                  const std::array<std::uint8_t, 16>& gid, bool global) const;
  template <typename Reply>
  Result<Reply> admitted_by(Result<Reply> reply);
  void end_crew();

  // A probe that has not come back.
  struct Pending {
    Destination to;
    std::uint32_t value = 0;
    int sent = 0;
  };

  Control& control_;
  const Ports& ports_;
  const Description& told_;
  const std::atomic<bool>& interrupted_;
  const Terms& terms_;
  Stage& stage_;
  std::unique_ptr<Crew> crew_;
  Admission admission_;
  bool begun_ = false, connected_ = false, started_ = false;
  std::optional<Error> refused_;  // ends the session, once the client has been told
  std::optional<Pending> pending_;
  std::vector<Destination> proved_;
  Nanoseconds came_at_ = 0, heard_at_ = 0;
  std::optional<Nanoseconds> ends_at_;  // by the terms
  std::optional<Nanoseconds> row_;      // how long the row that runs takes at least; nothing: none
                                        // runs, or it is one of messages
  Nanoseconds looked_at_ = 0;
  bool goes_on_ = true;
  std::uint64_t rows_ = 0;
};

}  // namespace gdr::perf
