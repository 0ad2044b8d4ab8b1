#include "proof/prove.h"

#include <algorithm>

#include "host/grade.h"
#include "proof/obstacle.h"
#include "proof/pair.h"
#include "proof/verdict.h"

namespace gdr::proof {
namespace {

class Run {
 public:
  Run(const Options& options, Listener& listener)
      : options_(options), context_{options, {}, {}, report_, listener} {}

  Result<Report> carry_out() {
    const Nanoseconds start = now();
    report_.facts = options_.facts;
    machine_ = participants::look_at_machine(options_.root);
    input_.machine_has_nic = machine_.nic;
    input_.machine_has_gpu = machine_.gpu;
    input_.soft_requested = options_.soft;
    Result<void> done = prove_all();
    if (!done) {
      if (wrong_use_) return done.error();
      if (!input_.obstacle) input_.obstacle = refused_step(done.error(), report_.inventory);
    }
    if (!options_.soft) input_.replaced = replaced_hardware(machine_, report_.inventory);
    report_.verdict = decide(input_, report_);
    report_.seconds = static_cast<double>(now() - start) / 1e9;
    return std::move(report_);
  }

 private:
  Result<void> prove_all() {
    libraries_ =
        participants::choose_libraries(machine_, options_, !options_.device_memory.empty());
    participants::let_real_nic_reach_soft_gpu(libraries_);
    context_.verbs = libraries_.verbs;
    context_.cuda = libraries_.cuda;
    const InventoryReport& inventory = report_.inventory;
    if (Result<void> done = take_inventory(); !done) return done;
    input_.obstacle = broken_stand_in(inventory);
    // A device that is there and cannot be used ends the proof: a stand-in must not hide it.
    if (!input_.obstacle) {
      input_.obstacle = missing_hardware(machine_, inventory, options_.require_hardware);
    }
    if (!input_.obstacle) {
      input_.obstacle = hidden_hardware(inventory, options_.soft_verbs, options_.soft_cuda);
    }
    if (input_.obstacle) {
      show_machine();
      return {};
    }
    Result<std::vector<Selection>> selections = participants::select_devices(inventory, options_);
    wrong_use_ = !selections && selections.error().code == EINVAL;
    if (!wrong_use_) show_machine();
    if (!selections) return selections.error();
    for (const Selection& selection : *selections) {
      if (is_cut_short()) break;
      if (Result<void> done = prove_selection(selection); !done) return done;
    }
    return {};
  }

  void show_machine() {
    context_.listener.on_facts(report_.facts);
    context_.listener.on_inventory(report_.inventory);
  }

  // In a worker, as everything that calls a driver.
  Result<void> take_inventory() {
    Result<std::array<WorkerProcess, 2>> workers =
        start_workers(options_.program, options_.worker_arguments);
    if (!workers) return workers.error();
    Result<Survey::Reply> survey =
        (*workers)[0].client.call(Survey{context_.verbs, context_.cuda}, kLongTimeout);
    if (!survey) return survey.error();
    const host::Files files(options_.root);
    const host::Inventory seen = host::take_inventory(files);
    report_.inventory = participants::make_inventory(libraries_, *survey, seen);
    report_.facts.kernel = files.line("proc/sys/kernel/osrelease");
    report_.facts.gpu_driver = seen.gpu_driver_version;
    if (seen.gpu_driver_open) report_.facts.gpu_driver += " (open)";
    if (host::has_reliable_grades(seen)) tree_ = seen.pci;
    report_.peer_memory_modules = host::loaded_peer_memory(files);
    return {};
  }

  // The grade of the way from the GPU at `address` to the NIC that has this port.
  std::string grade(const std::string& address, const std::string& nic) const {
    const GpuEntry* const gpu = gpu_at(report_.inventory, address);
    const NicEntry* const port = find_nic(report_.inventory, nic);
    if (!tree_ || gpu == nullptr || port == nullptr || !gpu->hardware || !port->hardware ||
        !gpu->hardware->pci || !port->hardware->pci) {
      return {};
    }
    const auto path = host::path_between(*tree_, *gpu->hardware->pci, *port->hardware->pci);
    return path ? host::name_of(*path) : "";
  }

  void note_participants(const Pair& pair, const Selection& selection) {
    Participants taking_part = pair.participants();
    taking_part.from_grade = grade(taking_part.from_gpu, selection.near.nic);
    taking_part.grade = grade(taking_part.gpu, selection.far.nic);
    context_.listener.on_pair(taking_part);
    if (!report_.inventory.host_memory_only) report_.participants.push_back(taking_part);
  }

  Result<void> prove_selection(const Selection& selection) {
    Pair pair(context_, selection);
    if (Result<void> done = pair.open(); !done) return done;
    note_participants(pair, selection);
    if (Result<void> done = pair.try_registrations(); !done) return done;
    if (Result<void> done = pair.make_buffers(); !done) return done;
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
      if (is_cut_short()) return {};
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
      if (is_cut_short()) return {};
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
    if (pair.alive()) return {};
    return Error{EIO, "while measuring: " + report_.measurements.back().problem};
  }

  // Numbers of a path that corrupts data would be praise for it.
  bool measurable() const {
    return std::none_of(report_.checks.begin(), report_.checks.end(),
                        [](const Check& check) { return check.status == Status::kFailed; });
  }

  const Options& options_;
  Report report_;
  Context context_;
  MachineFacts machine_;
  participants::Libraries libraries_;
  std::optional<host::PciTree> tree_;  // where its grades can be relied on
  VerdictInput input_;
  bool wrong_use_ = false;  // what failed is what was asked for
};

}  // namespace

Result<Report> prove(const Options& options, Listener& listener) {
  return Run(options, listener).carry_out();
}

}  // namespace gdr::proof
