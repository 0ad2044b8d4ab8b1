// Pair: the modes in every direction, and what is made of what was seen.
#include <fmt/format.h>

#include <algorithm>

#include "proof/packets.h"
#include "proof/pair.h"

namespace gdr::proof {
namespace {

// After waits that ran out, later ones are this long: the finding stands, the rest is for the
// record.
constexpr Nanoseconds kImpatient = kSecond / 2;
constexpr unsigned kMostTimeouts = 2;  // of one check
constexpr unsigned kMostFailures = 64;
// A few sizes tell whether VMM memory and host memory work as cuMemAlloc's does.
constexpr std::uint64_t kShortList[] = {1, 65, 4097, (1 << 20) + 13};
// A failure at a size from here on shows more than one of a few bytes.
constexpr std::uint64_t kTelling = 64;
constexpr const char* kFramesStay = "the software NIC carries raw frames within one host alone";

// What a transfer costs in time: its bytes, and as much as a mebibyte for asking.
std::uint64_t effort(const Case& c) { return c.size + (1 << 20); }

bool ran_out(Symptom symptom) {
  return symptom == Symptom::kNothingArrived || symptom == Symptom::kDataWithoutCompletion;
}

std::vector<Direction> directions_of(const Mode& mode, MemoryKind device) {
  std::vector<Direction> directions{{MemoryKind::kHost, device}};
  if (!mode.host_source_only) {
    directions.push_back({device, MemoryKind::kHost});
    directions.push_back({device, device});
  }
  return directions;
}

}  // namespace

void Pair::prove(std::span<const Mode* const> modes) {
  for (const Mode* mode : modes) {
    // A worker that died has failed the check it died in; more of the same says nothing.
    if (!alive() || context_.options.is_interrupted()) return;
    // The control: between host buffers, so that a failure can be laid at the GPU's door or not.
    prove_mode(*mode, {MemoryKind::kHost, MemoryKind::kHost});
    for (MemoryKind device : context_.options.device_memory) {
      if (!works(device)) continue;
      for (const Direction& direction : directions_of(*mode, device)) {
        if (alive() && !context_.options.is_interrupted()) prove_mode(*mode, direction);
      }
    }
    lane_->disconnect();
  }
}

std::optional<std::string> Pair::unusable(const Mode& mode) const {
  if (mode.queue == QueueKind::kRaw && !selection_.has_two_hosts() &&
      selection_.near == selection_.far) {
    return "raw frames need two NIC ports, but there is only one";
  }
  for (const End* end : {&near_, &far_}) {
    if (mode.needs_atomics && !end->opened.atomics) {
      return (end->host.empty() ? "the NIC" : of_host(end->nic, end->host)) + " offers no atomics";
    }
  }
  if (mode.queue == QueueKind::kRaw && frames_stay_within_hosts_) return kFramesStay;
  return std::nullopt;
}

void Pair::prove_mode(const Mode& mode, const Direction& direction) {
  Check check;
  check.mode = mode.name;
  check.title = mode.title;
  name_devices(selection_, check);
  check.direction = direction;
  check.fetched = mode.fetches;
  const std::optional<std::string> reason = unusable(mode);
  Result<void> ready;
  if (!reason) {
    ready = lane_->connect(mode.queue);
    if (ready && mode.prepare) ready = mode.prepare(*lane_);
  }
  if (reason) {
    check.reason = *reason;
  } else if (!ready && alive()) {
    const int code = ready.error().code;
    check.reason = ready.error().message;
    if (code == EPERM || code == EACCES)
      check.reason += std::string("; run gdr as root (sudo) or with CAP_NET_RAW") +
                      (selection_.has_two_hosts() ? ", and the server, too" : "");
    // Missing support or permission means "not proved"; any other error is a failure.
    const bool not_offered = code == EPERM || code == EACCES || code == EOPNOTSUPP ||
                             code == EPROTONOSUPPORT || code == EADDRNOTAVAIL || code == ENOSYS;
    const bool raw = mode.queue == QueueKind::kRaw;  // many NICs have none, each with its own error
    if (raw && code == EOPNOTSUPP) {
      check.reason = "the NIC offers no raw packet queue pairs: " + check.reason;
    }
    check.status = (not_offered || raw) && !soft_nic() ? Status::kNotProved : Status::kFailed;
    if (check.status == Status::kFailed) check.symptom = Symptom::kRefused;
  } else if (!ready) {
    check.status = is_deserted() ? Status::kNotProved : Status::kFailed;
    check.symptom = Symptom::kRefused;
    check.reason = ready.error().message;
  } else {
    const bool control = direction.from == direction.to && direction.to == MemoryKind::kHost;
    const bool brief = control && !context_.report.inventory.host_memory_only;
    const bool vmm =
        direction.from == MemoryKind::kDeviceVmm || direction.to == MemoryKind::kDeviceVmm;
    const bool only_vmm = context_.options.device_memory.size() == 1;
    std::span<const std::uint64_t> sizes(sizes_);
    if (default_sizes_ && (brief || (vmm && !only_vmm))) sizes = kShortList;
    run_cases(
        mode,
        mode.cases ? mode.cases(direction) : plan_cases(direction, sizes, mode.limits(*lane_)),
        check);
  }
  context_.listener.on_check(check);
  context_.report.checks.push_back(std::move(check));
}

void Pair::run_cases(const Mode& mode, const std::vector<Case>& cases, Check& check) {
  check.status = Status::kProved;
  check.least = cases.front().size;
  check.most = cases.back().size;
  packets_before_ = far_packets();
  const std::string what = check.title + ", " + direction_text(check);
  unsigned timeouts = 0;
  const bool impatient = impatient_;
  std::uint64_t done = 0, total = 0;
  for (const Case& c : cases) total += effort(c);
  bool told = false;
  for (const Case& c : cases) {
    if (context_.options.is_interrupted()) {
      if (check.failed > 0) break;
      check.status = Status::kNotProved;
      check.reason =
          fmt::format("interrupted after {} of {} transfers", check.transfers, cases.size());
      break;
    }
    context_.listener.on_progress(what, done, total);
    // A gibibyte takes seconds: the bar moves within a transfer as well.
    std::uint64_t steps = 0;
    lane_->on_step([&] {
      steps = std::min<std::uint64_t>(steps + 1, Lane::kSteps);
      context_.listener.on_progress(what, done + effort(c) * steps / Lane::kSteps, total);
    });
    const Observation seen = mode.run(*lane_, c);
    lane_->on_step({});
    done += effort(c);
    ++check.transfers;
    check.bytes += c.size;
    const Symptom symptom = judge(seen);
    if (symptom == Symptom::kNone) continue;
    // The first failure is reported, and a later one instead if it is the first of a telling size.
    const bool better = check.failed == 0 || (!told && c.size >= kTelling);
    ++check.failed;
    if (better) {
      told = c.size >= kTelling;
      conclude(mode, c, seen, check);
    }
    if (!alive() || frames_stay_within_hosts_ || check.failed >= kMostFailures) break;
    if (ran_out(symptom)) {
      lane_->set_timeout(std::min(kImpatient, context_.options.step_timeout));
      impatient_ = true;
      if (impatient || ++timeouts >= kMostTimeouts) break;
    }
    // Queue pairs do not survive errors, nor receives that nothing came for.
    Result<void> again = lane_->connect(mode.queue);
    if (again && mode.prepare) again = mode.prepare(*lane_);
    if (!again) break;
  }
}

void Pair::conclude(const Mode& mode, const Case& c, const Observation& seen, Check& check) {
  const Symptom symptom = judge(seen);
  const Circumstances around = circumstances(mode, c.direction);
  check.status = Status::kFailed;
  check.symptom = symptom;
  check.reason = describe(symptom, seen);
  check.transfer = size_text(c.size) + " at offset " + std::to_string(c.target_offset);
  check.advice = advise(symptom, seen, around);
  if (seen.refused && is_deserted()) check.status = Status::kNotProved;
  if (mode.queue == QueueKind::kRaw && around.soft_nic && around.two_hosts &&
      symptom == Symptom::kNothingArrived) {
    check.status = Status::kNotProved;
    check.reason = kFramesStay;
    frames_stay_within_hosts_ = true;
  }
  // Two ports of one host may be on separate networks; then this proves nothing.
  if (mode.queue == QueueKind::kRaw && !around.soft_nic && symptom == Symptom::kNothingArrived &&
      around.counters_known && !around.receiver_moved) {
    check.status = Status::kNotProved;
    check.reason = "no cable or network between " + around.near + " and " +
                   of_host(around.far, around.far_host) +
                   ": frames were sent, but the counters of " + around.far + " did not move";
  }
}

CountPackets::Reply Pair::far_packets() {
  if (context_.far == nullptr) {
    return count_packets(context_.options.root, selection_.far.nic, selection_.far.port);
  }
  const Result<CountPackets::Reply> counted = far_.client->call(CountPackets{}, kLongTimeout);
  return counted ? *counted : CountPackets::Reply{};
}

Circumstances Pair::circumstances(const Mode& mode, const Direction& direction) {
  Circumstances around;
  around.queue = mode.queue;
  around.soft_nic = soft_nic();
  around.soft_gpu = context_.report.has_soft_gpu();
  around.device_memory = is_device(direction.from) || is_device(direction.to);
  around.two_hosts = selection_.has_two_hosts();
  around.same_nic = !around.two_hosts && selection_.near == selection_.far;
  around.ethernet = near_.opened.ethernet;
  around.near = selection_.near.text();
  around.far = selection_.far.text();
  around.far_host = selection_.far_host;
  const bool at_target = is_device(direction.to);
  const MemoryKind device = at_target ? direction.to : direction.from;
  const End& end = at_target == mode.fetches ? near_ : far_;
  if (const auto found = end.works.find(device); found != end.works.end()) {
    around.registration = found->second;
  }
  for (const Check& check : context_.report.checks) {
    const bool control = check.mode == mode.name && !is_device(check.direction.from) &&
                         !is_device(check.direction.to) && check.from_nic == around.near &&
                         check.to_nic == around.far;
    if (control) around.host_works = check.status == Status::kProved;
  }
  const CountPackets::Reply counted = far_packets();
  around.counters_known = counted.known && !around.soft_nic;
  around.receiver_moved = counted != packets_before_;
  return around;
}

}  // namespace gdr::proof
