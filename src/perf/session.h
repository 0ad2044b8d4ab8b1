// Session: the server's side of one client, from its first word until it goes, whichever way.
//
//   Session session(control, ports, told, interrupted, processors);
//   Result<void> ended = session.serve();   // also when the client has vanished: an error
#pragma once

#include <functional>

#include "perf/choice.h"
#include "perf/control.h"
#include "perf/crew.h"

namespace gdr::perf {

class Session {
 public:
  // `told`: what the client is told of the server.
  Session(Control& control, const Ports& ports, const Description& told,
          const std::atomic<bool>& interrupted, std::vector<int> processors = {})
      : control_(control),
        ports_(ports),
        told_(told),
        interrupted_(interrupted),
        processors_(std::move(processors)),
        clock_(TickClock::calibrate()) {}

  Result<void> serve();
  std::uint64_t rows() const { return rows_; }

 private:
  Result<void> dispatch(const Received& received);
  template <typename Request>
  Result<void> answer(const Received& received);
  Result<Hello> handle(const Hello& request);
  Result<Open::Reply> handle(const Open&);
  Result<SetUp::Reply> handle(const SetUp& request);
  Result<Nothing> handle(const Connect& request);
  Result<Nothing> handle(const Start& request);
  Result<Nothing> handle(const FillWindow& request);
  Result<Nothing> handle(const MoveWindow& request);
  Result<VerifyWindow::Reply> handle(const VerifyWindow& request);
  Result<Finish::Reply> handle(const Finish& request);
  Result<Nothing> handle(const TearDown&);
  void end_crew();

  Control& control_;
  const Ports& ports_;
  const Description& told_;
  const std::atomic<bool>& interrupted_;
  const std::vector<int> processors_;  // threads are bound to them
  const TickClock clock_;
  std::unique_ptr<Crew> crew_;
  bool greeted_ = false, connected_ = false, started_ = false;
  std::uint64_t rows_ = 0;
};

}  // namespace gdr::perf
