#include "fabric/worker/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "fabric/worker/equipment.h"
#include "fabric/worker/inbox.h"
#include "fabric/worker/neighbours.h"
#include "fabric/worker/rail_thread.h"
#include "fabric/worker/rails.h"
#include "process/worker.h"

namespace gdr::fabric::worker {
namespace {

std::string gpu_text(const PlannedRail& rail) {
  return rail.gpu ? fmt::format("GPU {}", *rail.gpu) : std::string();
}

class Service {
 public:
  explicit Service(Talk& talk) : talk_(talk), inbox_(talk, bell_) {}

  int run() {
    for (;;) {
      Result<process::Received> received = inbox_.take();
      if (!received) return received.error().code == ECONNRESET ? 0 : 1;
      if (received->kind == Talk::number_of<Finish>()) return 0;
      if (Result<void> handled = handle(*received); !handled) {
        (void)talk_.send(process::Failure{handled.error().code, handled.error().message});
        return handled.error().code == ECONNRESET ? 0 : 1;
      }
    }
  }

 private:
  template <typename Message>
  Result<void> pass_on(const process::Received& received) {
    Result<Message> message = process::decode<Message>(received.bytes);
    if (!message) return message.error();
    return handle(*message);
  }
  Result<void> handle(const process::Received& received) {
    if (received.kind == Talk::number_of<Begin>()) return pass_on<Begin>(received);
    if (received.kind == Talk::number_of<Connect>()) return pass_on<Connect>(received);
    if (received.kind == Talk::number_of<Go>()) return pass_on<Go>(received);
    if (received.kind == Talk::number_of<Abandon>()) return pass_on<Abandon>(received);
    return process::unexpected(received.kind);
  }

  Result<void> handle(const Begin& begin) {
    if (begun_) return Error{EALREADY, "the rails are open already"};
    begun_ = true;
    settings_ = begin.settings;
    Result<Ready> ready = open(begin);
    if (ready) return talk_.send(*ready);
    rails_.clear();
    return talk_.send(Unable{ready.error().message});
  }

  Result<Ready> open(const Begin& begin) {
    // Before a driver's library is there, which may mind that this process has a child.
    const std::map<std::string, Neighbour> neighbours = ask_neighbours();
    Result<Equipment> equipment = take_stock(begin);
    if (!equipment) return equipment.error();
    Result<RailPlan> plan = choose_rails(equipment->inventory, equipment->machine, begin);
    if (!plan) return plan.error();
    for (PlannedRail& rail : plan->rails) {
      rails_.push_back(std::make_unique<RailThread>(std::move(rail), equipment->libraries,
                                                    begin.settings, bell_));
    }
    bell_.wait([this] { return all_idle(); });
    Ready ready;
    ready.notes = std::move(equipment->notes);
    ready.notes.insert(ready.notes.end(), plan->notes.begin(), plan->notes.end());
    for (const std::unique_ptr<RailThread>& rail : rails_) {
      if (rail->problem()) {
        return Error{rail->problem()->code,
                     fmt::format("{}: {}", rail->planned().port.text(), rail->problem()->message)};
      }
      ready.rails.push_back(describe(*rail, neighbours));
    }
    return ready;
  }

  static MemberRail describe(const RailThread& rail,
                             const std::map<std::string, Neighbour>& neighbours) {
    const PlannedRail& planned = rail.planned();
    MemberRail said;
    said.rail = planned.number;
    said.nic = planned.port.text();
    said.gpu = gpu_text(planned);
    said.software_nic = planned.software_nic;
    said.software_gpu = planned.software_gpu;
    said.link_bits_per_second = planned.link_bits_per_second;
    said.address = rail.address();
    said.gid = planned.gid.empty() ? fmt::format("LID {}", said.address.lid) : planned.gid;
    if (const auto found = neighbours.find(planned.netdev); found != neighbours.end()) {
      said.leaf = found->second.leaf;
      said.leaf_port = found->second.port;
    }
    return said;
  }

  Result<void> handle(const Connect& connect) {
    for (const Part& part : connect.parts) {
      if (!std::ranges::any_of(rails_, [&](const std::unique_ptr<RailThread>& rail) {
            return rail->planned().number == part.rail;
          })) {
        return Error{EINVAL, fmt::format("this host has no rail {} here", part.rail)};
      }
    }
    round_ = connect.round;
    for (const std::unique_ptr<RailThread>& rail : rails_) {
      RailStep step{Phase::kConnect, connect.round, deadline(), {}};
      for (const Part& part : connect.parts) {
        if (part.rail == rail->planned().number) step.part = part;
      }
      rail->begin(step);
    }
    return finish_step(Phase::kConnect);
  }

  Result<void> handle(const Go& go) {
    if (!round_ || go.round != *round_ || go.phase == Phase::kConnect ||
        go.phase > Phase::kBandwidth) {
      return Error{EPROTO, fmt::format("round {} is not connected", go.round)};
    }
    for (const std::unique_ptr<RailThread>& rail : rails_) {
      if (rail->takes_part()) rail->begin({go.phase, go.round, deadline(), {}});
    }
    return finish_step(go.phase);
  }

  Result<void> handle(const Abandon& abandon) {
    // One that belongs to an earlier round has come too late, and says nothing about this one.
    if (!round_ || abandon.round != *round_) return {};
    for (const std::unique_ptr<RailThread>& rail : rails_) {
      if (abandon.silent_rail < 0) rail->abandon(abandon.host);
      if (abandon.silent_rail == rail->planned().number) rail->expect_nothing_of(abandon.host);
    }
    return {};
  }

  Nanoseconds deadline() const { return now() + settings_.step_milliseconds * kMillisecond; }
  bool all_idle() const {
    return std::ranges::all_of(
        rails_, [](const std::unique_ptr<RailThread>& rail) { return rail->is_idle(); });
  }

  // Until all rails are done. Meanwhile the other side of some of them may be lost.
  Result<void> finish_step(Phase phase) {
    for (;;) {
      bool done = false, called = false;
      bell_.wait([&] {
        done = all_idle();
        called = inbox_.has_message();
        return done || called;
      });
      if (done) break;
      Result<process::Received> received = inbox_.take();
      if (!received) return received.error();
      if (received->kind == Talk::number_of<Finish>()) return Error{ECONNRESET, "finished"};
      if (received->kind != Talk::number_of<Abandon>()) {
        return Error{EBUSY, "a step is still under way"};
      }
      if (Result<void> handled = pass_on<Abandon>(*received); !handled) return handled;
    }
    StepDone answer{*round_, phase, {}};
    for (const std::unique_ptr<RailThread>& rail : rails_) {
      if (rail->takes_part()) answer.results.push_back(rail->result());
    }
    return talk_.send(answer);
  }

  Talk& talk_;
  Bell bell_;
  Inbox inbox_;
  Settings settings_;
  bool begun_ = false;
  std::optional<std::uint32_t> round_;  // that is connected
  std::vector<std::unique_ptr<RailThread>> rails_;
};

}  // namespace

}  // namespace gdr::fabric::worker

namespace gdr::fabric {

int serve_fabric_worker(Talk& talk) { return worker::Service(talk).run(); }

int fabric_worker_main() {
  Result<UniqueFd> socket = process::Worker::own_socket();
  if (!socket) return 2;
  Talk talk(*std::move(socket));
  return serve_fabric_worker(talk);
}

}  // namespace gdr::fabric
