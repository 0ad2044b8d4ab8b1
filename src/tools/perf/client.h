// Client: carries out rows with a server, and makes their figures.
//
//   Client client(control, ports, version, processors, interrupted);
//   if (Result<void> met = client.greet(); !met) ...
//   Result<void> done = client.run(group, [&](Row row) { report.rows.push_back(std::move(row)); });
#pragma once

#include <functional>
#include <mutex>

#include "perf/cases/verifier.h"
#include "perf/control.h"
#include "perf/crew.h"
#include "perf/plan.h"

namespace gdr::perf {

class Client : private Verifier {
 public:
  Client(Control& control, const Ports& ports, std::string version, std::vector<int> processors,
         const std::atomic<bool>& interrupted)
      : control_(control),
        ports_(ports),
        version_(std::move(version)),
        processors_(std::move(processors)),
        interrupted_(interrupted),
        clock_(TickClock::calibrate()) {
    control_.watch(interrupted_);
  }

  // Protocols are the same, both sides know the secret, if there is one, and the server has as many
  // ports, of which it needs no more.
  Result<void> greet(const std::optional<Secret>& secret = std::nullopt);
  // The server measures for this client alone, from now on. EBUSY: it is another one's turn.
  Result<void> begin(const std::vector<Group>& groups);
  const Side& far() const { return opened_.side; }
  const Facts& far_facts() const { return opened_.facts; }
  const TickClock& clock() const { return clock_; }

  // A row for each size, as it is done; a row that could not be carried out says why. An error: the
  // server is lost, or interrupted.
  // `running` is called now and then meanwhile.
  Result<void> run(const Group& group, const std::function<void(Row)>& done,
                   std::function<void(const Load&)> running);

 private:
  Result<void> open(const std::optional<Secret>& secret);
  Result<void> check_opened() const;
  // That this side is where it says, on each port of the load.
  Result<void> answer_probes(const Load& load);
  Result<void> answer_probe(std::size_t port);
  Result<void> set_up(const Load& load, std::uint64_t largest);
  Error ended_early();
  Result<void> tear_down();
  Result<Row> run_row(const Load& load, const Timing& timing);
  Result<Finish::Reply> carry_out(const Start& start, CrewOutcome& near);
  Result<void> suits(const Load& load, std::uint64_t largest) const;
  Result<void> suits(const Load& load, std::uint64_t largest, std::uint32_t port) const;
  ibv_mtu path_mtu(const Load& load) const;
  Result<void> fill(const Window& window) override;
  Result<Ticks> move(const Window& window) override;
  Result<VerifyWindow::Reply> verify(const Window& window) override;

  Control& control_;
  const Ports& ports_;
  const std::string version_;
  const std::vector<int> processors_;
  const std::atomic<bool>& interrupted_;
  const TickClock clock_;
  Open::Reply opened_;
  std::vector<bool> proved_;  // a port each
  std::optional<Error> unreachable_;
  std::unique_ptr<Crew> crew_;
  double set_up_seconds_ = 0;
  std::function<void(const Load&)> running_;
  Nanoseconds told_at_ = 0;
  std::mutex control_mutex_;  // threads ask for comparisons
};

}  // namespace gdr::perf
