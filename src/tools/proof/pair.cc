#include "proof/pair.h"

#include <algorithm>
#include <tuple>

#include "cuda/driver.h"
#include "proof/device_addresses.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kProbeSize = 2 << 20;

}  // namespace

Pair::Pair(Context& context, Selection selection)
    : context_(context),
      selection_(std::move(selection)),
      sizes_(context.options.sizes),
      default_sizes_(std::ranges::equal(sizes_, default_sizes())) {}

std::uint64_t Pair::largest() const { return *std::ranges::max_element(sizes_); }

std::uint64_t Pair::capacity() const { return largest() + kLargestOffset + 2 * kGuard; }

Result<void> Pair::open() {
  const Options& options = context_.options;
  Result<WorkerProcess> sender =
      start_worker("the sending process", options.program, options.worker_arguments);
  if (!sender) return sender.error();
  near_worker_.emplace(*std::move(sender));
  near_.client = &near_worker_->client;
  Result<Client*> receiver = start_far();
  if (!receiver) return receiver.error();
  far_.client = *receiver;
  near_.host = selection_.near_host;
  far_.host = selection_.far_host;
  near_.peer_memory_modules = far_.peer_memory_modules = context_.peer_memory_modules;
  if (context_.far != nullptr) {
    far_.peer_memory_modules.clear();
    for (const FarHost::Module& module : context_.far->host.modules) {
      far_.peer_memory_modules.push_back({module.name, module.version});
    }
  }
  near_.gpu = selection_.near_gpu_text;
  far_.gpu = selection_.far_gpu_text;
  const std::tuple<End*, const PortChoice*, int> ends[] = {
      {&near_, &selection_.near, selection_.near_gpu},
      {&far_, &selection_.far, selection_.far_gpu}};
  for (const auto& [end, choice, gpu] : ends) {
    end->nic = choice->text();
    Result<Open::Reply> opened = end->client->call(
        Open{context_.verbs, context_.cuda, choice->nic, choice->port, gpu}, kLongTimeout);
    if (!opened) {
      return Error{opened.error().code,
                   of_host(end->nic, end->host) + ": " + opened.error().message};
    }
    end->opened = *opened;
    // The server has looked for its own.
    if (end->host != selection_.far_host || !context_.far) {
      take_mac(context_.report.inventory, *choice, end->opened);
    }
  }
  lane_.emplace(near_, far_, options.step_timeout);
  return {};
}

Result<Client*> Pair::start_far() {
  if (context_.far != nullptr) return &context_.far->client;
  Result<WorkerProcess> receiver = start_worker("the receiving process", context_.options.program,
                                                context_.options.worker_arguments);
  if (!receiver) return receiver.error();
  far_worker_.emplace(*std::move(receiver));
  return &far_worker_->client;
}

Result<void> Pair::is_alive() const {
  for (const End* end : {&near_, &far_}) {
    if (!end->client->alive()) return *end->client->broken();
  }
  return {};
}

Result<void> Pair::try_registration(End& end, MemoryKind memory, Registration registration) {
  Result<CreateBuffer::Reply> reply =
      end.client->call(CreateBuffer{memory, registration, kProbeSize}, kLongTimeout);
  if (!reply) return reply.error();
  RegistrationResult result;
  result.nic = end.nic;
  result.gpu = end.gpu;
  result.host = end.host;
  result.memory = memory;
  result.registration = registration;
  result.ok = reply->stage == RegistrationStage::kDone;
  result.code = reply->code;
  result.detail = decode_registration(registration, *reply);
  result.size = kProbeSize;
  if (result.ok) {
    (void)static_cast<bool>(end.client->call(DestroyBuffer{reply->buffer}));
    const auto& wanted = context_.options.registration;
    if (!wanted || *wanted == registration) {
      result.used = end.works.emplace(memory, registration).second;
    }
    // The software NIC asks no module.
    if (registration == Registration::kPeerMemory && !soft_nic()) {
      result.modules = end.peer_memory_modules;
    }
  }
  context_.listener.on_registration(result);
  context_.report.registrations.push_back(std::move(result));
  return {};
}

Result<void> Pair::try_registrations() {
  // What works at one end of a GPU works at the other, on one host.
  std::vector<End*> ends{&far_};
  if (selection_.has_two_gpus()) ends.insert(ends.begin(), &near_);
  for (End* end : ends) {
    for (MemoryKind memory : context_.options.device_memory) {
      for (Registration registration : {Registration::kDmaBuf, Registration::kPeerMemory}) {
        Result<void> tried = try_registration(*end, memory, registration);
        if (!tried) return tried;
      }
    }
  }
  if (!selection_.has_two_gpus()) near_.works = far_.works;
  return {};
}

std::vector<MemoryKind> Pair::working_kinds() const {
  std::vector<MemoryKind> kinds{MemoryKind::kHost};
  for (MemoryKind kind : context_.options.device_memory) {
    if (works(kind)) kinds.push_back(kind);
  }
  return kinds;
}

Result<void> Pair::make_buffer(End& end, MemoryKind kind) {
  const Registration registration = is_device(kind) ? end.works.at(kind) : Registration::kHost;
  Result<CreateBuffer::Reply> reply =
      end.client->call(CreateBuffer{kind, registration, capacity()}, kLongTimeout);
  if (!reply) return reply.error();
  if (reply->stage != RegistrationStage::kDone) {
    const bool no_room = is_device(kind) && reply->stage == RegistrationStage::kAllocate &&
                         reply->code == cuda::CUDA_ERROR_OUT_OF_MEMORY;
    if (no_room) scarce_gpu_ = of_host(end.gpu, end.host);
    return Error{no_room ? ENOSPC : reply->code,
                 (end.host.empty() ? "" : end.host + ": ") + std::string(memory_text(kind)) +
                     " memory for sizes up to " + size_text(largest()) + ": " +
                     decode_registration(registration, *reply)};
  }
  end.buffers[kind] = {reply->buffer, reply->address, reply->rkey};
  return {};
}

void Pair::destroy_buffers() {
  for (End* end : {&near_, &far_}) {
    for (const auto& [kind, buffer] : end->buffers) {
      (void)static_cast<bool>(end->client->call(DestroyBuffer{buffer.id}, kLongTimeout));
    }
    end->buffers.clear();
  }
}

Result<void> Pair::try_buffers() {
  const std::vector<MemoryKind> kinds = working_kinds();
  const std::uint64_t total = 2 * kinds.size();
  std::uint64_t made = 0;
  const std::string what = "making buffers for sizes up to " + size_text(largest());
  destroy_buffers();
  for (End* end : {&near_, &far_}) {
    for (MemoryKind kind : kinds) {
      context_.listener.on_progress(what, made++, total);
      if (Result<void> done = make_buffer(*end, kind); !done) return done;
    }
  }
  return {};
}

bool Pair::drop_largest_size() {
  const std::uint64_t before = capacity();
  if (!default_sizes_ || sizes_.size() == 1) return false;
  sizes_.pop_back();
  return capacity() < before;
}

Result<void> Pair::make_buffers() {
  Result<void> made = try_buffers();
  while (!made && made.error().code == ENOSPC && drop_largest_size()) made = try_buffers();
  if (!made || sizes_.size() == context_.options.sizes.size()) return made;
  // Frames and datagrams are smaller than that anyway.
  if (std::ranges::none_of(context_.options.modes,
                           [](const Mode* mode) { return mode->queue == QueueKind::kRc; })) {
    return made;
  }
  Check check;
  check.mode = "sizes";
  check.title = "sizes over " + size_text(largest());
  name_devices(selection_, check);
  check.direction = {MemoryKind::kHost, MemoryKind::kDevice};
  check.reason = scarce_gpu_ + " has too little free memory for buffers of " +
                 size_text(context_.options.sizes.back()) + "; the largest size is now " +
                 size_text(largest());
  context_.listener.on_check(check);
  context_.report.checks.push_back(std::move(check));
  return made;
}

// Nothing: no queue pairs could be connected.
std::optional<Observation> Pair::try_link() {
  if (Result<void> connected = lane_->connect(QueueKind::kRc); !connected) return std::nullopt;
  const Observation seen =
      kRcWrite.run(*lane_, Case{{MemoryKind::kHost, MemoryKind::kHost}, 64, 0, 0});
  lane_->disconnect();
  return seen;
}

bool Pair::reaches() {
  const std::optional<Observation> seen = try_link();
  return seen && judge(*seen) == Symptom::kNone;
}

// What arrives and is wrong is for the proof to judge, and so is a refusal.
bool Pair::is_cut_off() {
  const std::optional<Observation> seen = try_link();
  if (!seen) return false;
  return judge(*seen) == Symptom::kNothingArrived ||
         (seen->sent && seen->sent->seen && seen->sent->status == IBV_WC_RETRY_EXC_ERR);
}

}  // namespace gdr::proof
