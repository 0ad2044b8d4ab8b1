#include "proof/prove.h"

#include <algorithm>

#include "base/address_space.h"
#include "perf/unreachable.h"
#include "proof/hosts/visit.h"
#include "proof/machine.h"
#include "proof/obstacle.h"
#include "proof/pair.h"
#include "proof/verdict.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kAddressSpace = std::uint64_t{4} << 30;  // twice what stand-ins need

class Run {
 public:
  Run(const Options& options, Listener& listener)
      : options_(options), context_{options, {}, {}, {}, report_, listener, nullptr} {}

  Result<Report> carry_out() {
    const Nanoseconds start = now();
    report_.facts = options_.facts;
    input_.soft_requested = options_.soft;
    Result<void> done = options_.server.host.empty() ? prove_here() : prove_between_hosts();
    if (!done) {
      if (ends_it_) return done.error();
      if (!input_.obstacle) input_.obstacle = refused_step(done.error(), report_.inventory);
    }
    input_.address_space_shortage = address_space_shortage(kAddressSpace);
    input_.may_lift_shortage = may_lift_address_space();
    report_.verdict = decide(input_, report_);
    name_host(report_.verdict.next);
    report_.seconds = static_cast<double>(now() - start) / 1e9;
    return std::move(report_);
  }

 private:
  Result<void> prove_here() {
    if (Result<void> done = look_here(); !done) return done;
    if (input_.obstacle) {
      show_machine();
      return {};
    }
    Result<std::vector<Selection>> selections =
        participants::select_devices(report_.inventory, options_);
    ends_it_ = !selections && selections.error().code == EINVAL;
    if (!ends_it_) show_machine();
    if (!selections) return selections.error();
    for (const Selection& selection : *selections) {
      if (is_cut_short()) break;
      if (Result<void> done = prove_selection(selection); !done) return done;
    }
    return {};
  }

  // B is the server on another host. Without an answer from there nothing is said of hardware.
  Result<void> prove_between_hosts() {
    if (Result<void> done = look_here(); !done) return done;
    ends_it_ = true;
    const Result<std::optional<perf::Secret>> secret =
        perf::Secret::read_given(options_.server.given_secret());
    if (!secret) return secret.error();
    Result<Visit> visit =
        Visit::pay(options_.server, options_.facts.version, *secret, options_.interrupted);
    if (!visit) return unserved(visit.error());
    Result<FarHost> there =
        visit->describe({!options_.device_memory.empty(), options_.require_hardware});
    if (!there) return unserved(there.error());
    Result<Selection> here = choose_own(report_.inventory, options_);
    if (!here && here.error().code == EINVAL) return here.error();
    ends_it_ = false;
    report_.other = OtherSide{there->facts, inventory_of(*there)};
    report_.other->facts.host = name_of(*there, options_.facts.host);
    note_far_hardware(*there);
    show_machine();
    if (input_.obstacle) return {};
    if (!here) return here.error();
    const Selection selection = join(*here, options_.facts.host, *there);
    ServerOfProof server = options_.server;
    Result<Client> client = std::move(*visit).begin_proof(selection.far_host, server.ticket);
    if (!client) return unserved(client.error());
    FarEnd far{*std::move(client), *std::move(there), std::move(server)};
    context_.far = &far;
    Result<void> done = prove_with(selection);
    context_.far = nullptr;
    return done;
  }

  Result<void> prove_with(const Selection& selection) {
    Pair pair(context_, selection);
    if (Result<void> done = prepare(pair, selection); !done) return done;
    const bool needs_rc = std::ranges::any_of(
        options_.modes, [](const Mode* mode) { return mode->queue == QueueKind::kRc; });
    if (needs_rc && pair.is_cut_off()) {
      perf::Port far;
      far.nic = selection.far.nic;
      far.gid = pair.far_gid();
      const Error why = perf::unreachable(far, selection.near.nic, pair.near_gid());
      input_.obstacle = Obstacle{{why.message}, {}, text::Command("gdr doctor")};
      return {};
    }
    if (Result<void> there = pair.is_alive(); !there) return there;
    pair.prove(options_.modes);
    if (Result<void> done = check_end(pair); !done || is_cut_short()) return done;
    return measure(pair);
  }

  // No answer from the other host says anything of hardware, nor that the use was wrong here.
  Result<void> unserved(const Error& error) {
    ends_it_ = error.code != EINTR;
    report_.interrupted = report_.interrupted || error.code == EINTR;
    if (error.code == EINTR) return {};
    return Error{error.code == EINVAL ? EPROTO : error.code, error.message};
  }

  // What the other side's host is to be named in: "gdr prove" alone proves something else.
  void name_host(text::Command& command) const {
    if (options_.server.host.empty()) return;
    command = command.with_behind("gdr prove", options_.server.host);
  }

  // A worker that was lost between two transfers has failed no check, and what it did not do is not
  // proved.
  Result<void> check_end(const Pair& pair) const {
    return measurable() ? pair.is_alive() : Result<void>();
  }

  void note_far_hardware(const FarHost& there) {
    const std::string name = name_of(there, options_.facts.host);
    const auto of_that_host = [&](Obstacle obstacle) {
      for (std::string& seen : obstacle.seen) seen = name + ": " + seen;
      obstacle.next = text::Command("ssh {} gdr prove", options_.server.host);
      return obstacle;
    };
    if (!input_.obstacle && !there.obstacle.seen.empty()) {
      input_.obstacle = of_that_host(there.obstacle);
    }
    if (!input_.replaced && !there.replaced.seen.empty()) {
      input_.replaced = of_that_host(there.replaced);
    }
  }

  void show_machine() {
    context_.listener.on_facts(report_.facts);
    context_.listener.on_inventory(report_.inventory);
    if (report_.other) context_.listener.on_other_side(*report_.other);
  }

  Result<void> look_here() {
    prepare_environment(options_);
    Result<Machine> machine = take_stock(options_);
    if (!machine) return machine.error();
    machine_ = *std::move(machine);
    context_.verbs = machine_.libraries.verbs;
    context_.cuda = machine_.libraries.cuda;
    context_.peer_memory_modules = machine_.peer_memory_modules;
    report_.inventory = machine_.inventory;
    report_.facts = machine_.facts;
    input_.machine_has_nic = machine_.shows.nic;
    input_.machine_has_gpu = machine_.shows.gpu;
    input_.obstacle = obstacle_on(machine_, options_);
    if (!options_.soft) input_.replaced = replaced_hardware(machine_.shows, report_.inventory);
    return {};
  }

  void note_participants(const Pair& pair, const Selection& selection) {
    Participants taking_part = pair.participants();
    taking_part.from_grade = machine_.grade(taking_part.from_gpu, selection.near.nic);
    taking_part.grade = context_.far ? context_.far->host.grade
                                     : machine_.grade(taking_part.gpu, selection.far.nic);
    context_.listener.on_pair(taking_part);
    if (!report_.inventory.host_memory_only) report_.participants.push_back(taking_part);
  }

  Result<void> prepare(Pair& pair, const Selection& selection) {
    if (Result<void> done = pair.open(); !done) return done;
    note_participants(pair, selection);
    if (Result<void> done = pair.try_registrations(); !done) return done;
    return pair.make_buffers();
  }

  Result<void> prove_selection(const Selection& selection) {
    Pair pair(context_, selection);
    if (Result<void> done = prepare(pair, selection); !done) return done;
    std::vector<const Mode*> raw, connected;
    for (const Mode* mode : options_.modes) {
      (mode->queue == QueueKind::kRaw ? raw : connected).push_back(mode);
    }
    pair.prove(raw);
    const bool one_port = selection.near == selection.far;
    // On Ethernet ports of one host the kernel's route to the other port loops inside the first.
    const bool looped = !report_.inventory.soft_nic && selection.near.ethernet && !one_port;
    if (!looped || pair.reaches()) {
      pair.prove(connected);
      if (Result<void> done = check_end(pair); !done || is_cut_short()) return done;
      return measure(pair);
    }
    for (const PortChoice& choice : {selection.near, selection.far}) {
      Selection itself = selection;
      itself.near = itself.far = choice;
      Pair loop(context_, itself);
      if (Result<void> done = loop.open(); !done) return done;
      if (Result<void> done = loop.try_registrations(); !done) return done;
      if (Result<void> done = loop.make_buffers(); !done) return done;
      loop.prove(connected);
      if (Result<void> done = check_end(loop); !done || is_cut_short()) return done;
      if (!(choice == selection.far)) continue;
      if (Result<void> done = measure(loop); !done) return done;
    }
    return note_loop(selection, connected);
  }

  // Asked before every further step of the transfers; what is measured afterwards proves nothing,
  // so that an interruption then leaves the verdict as it is.
  bool is_cut_short() {
    report_.interrupted = report_.interrupted || options_.is_interrupted();
    return report_.interrupted;
  }

  Result<void> note_loop(const Selection& selection, const std::vector<const Mode*>& modes) {
    if (modes.empty()) return {};
    Check check;
    check.mode = "route";
    check.title = "RC and UD between the ports";
    name_devices(selection, check);
    check.direction = {MemoryKind::kHost, report_.inventory.host_memory_only ? MemoryKind::kHost
                                                                             : MemoryKind::kDevice};
    const bool frames = std::ranges::any_of(report_.checks, [&](const Check& other) {
      return other.mode == kRaw.name && other.status == Status::kProved &&
             other.from_nic == check.from_nic && other.to_nic == check.to_nic;
    });
    check.reason =
        "retries ran out: the kernel routes traffic between two ports of one host inside " +
        selection.near.text() + ", or nothing connects them; each NIC was proved against itself, " +
        (frames ? "and the link between them with raw frames" : "but not the link between them");
    context_.listener.on_check(check);
    report_.checks.push_back(std::move(check));
    return {};
  }

  Result<void> measure(Pair& pair) {
    if (!options_.measure || !measurable() || options_.is_interrupted()) return {};
    pair.measure();
    const Result<void> there = pair.is_alive();
    if (there) return {};
    return Error{EIO, "while measuring: " + there.error().message};
  }

  // Numbers of a path that corrupts data would be praise for it.
  bool measurable() const {
    return std::none_of(report_.checks.begin(), report_.checks.end(),
                        [](const Check& check) { return check.status == Status::kFailed; });
  }

  const Options& options_;
  Report report_;
  Context context_;
  Machine machine_;
  VerdictInput input_;
  bool ends_it_ = false;  // the error is no verdict: wrong use, or no answer from the other host
};

}  // namespace

Result<Report> prove(const Options& options, Listener& listener) {
  return Run(options, listener).carry_out();
}

}  // namespace gdr::proof
