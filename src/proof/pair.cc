#include "proof/pair.h"

#include <stdio.h>

#include <algorithm>

namespace gdr::proof {
namespace {

constexpr std::uint64_t kProbeSize = 2 << 20;
// Room for the measurement even where only small sizes are proved.
constexpr std::uint64_t kLeastCapacity = 8 << 20;

// sysfs's MAC address: the library can only resolve it where a route exists.
void take_mac(const InventoryReport& inventory, const PortChoice& choice, Open::Reply& opened) {
  for (const NicEntry& nic : inventory.nics) {
    if (nic.survey.name != choice.nic || !nic.hardware) continue;
    for (const host::Port& port : nic.hardware->ports) {
      unsigned m[6];
      if (port.number != choice.port || sscanf(port.mac.c_str(), "%x:%x:%x:%x:%x:%x", m, m + 1,
                                               m + 2, m + 3, m + 4, m + 5) != 6) {
        continue;
      }
      for (std::size_t i = 0; i < 6; ++i) opened.mac[i] = static_cast<std::uint8_t>(m[i]);
      opened.has_mac = true;
    }
  }
}

}  // namespace

Result<void> Pair::open() {
  const Options& options = context_.options;
  Result<std::array<WorkerProcess, 2>> workers =
      start_workers(options.program, options.worker_arguments);
  if (!workers) return workers.error();
  workers_.emplace(*std::move(workers));
  near_.client = &(*workers_)[0].client();
  far_.client = &(*workers_)[1].client();
  const std::uint64_t largest = *std::max_element(options.sizes.begin(), options.sizes.end());
  const std::uint64_t capacity = std::max(largest, kLeastCapacity) + kLargestOffset + 2 * kGuard;
  const std::pair<End*, const PortChoice*> ends[] = {{&near_, &selection_.near},
                                                     {&far_, &selection_.far}};
  for (const auto& [end, choice] : ends) {
    end->capacity = capacity;
    Result<Open::Reply> opened = end->client->call(
        Open{context_.verbs, context_.cuda, choice->nic, choice->port, selection_.gpu},
        kLongTimeout);
    if (!opened) return Error{opened.error().code, choice->text() + ": " + opened.error().message};
    end->opened = *opened;
    take_mac(context_.report.inventory, *choice, end->opened);
  }
  lane_.emplace(near_, far_, options.step_timeout);
  return {};
}

Result<void> Pair::try_registrations() {
  for (MemoryKind memory : context_.options.device_memory) {
    for (Registration registration : {Registration::kDmaBuf, Registration::kPeerMemory}) {
      Result<CreateBuffer::Reply> reply =
          far_.client->call(CreateBuffer{memory, registration, kProbeSize}, kLongTimeout);
      if (!reply) return reply.error();
      RegistrationResult result;
      result.nic = selection_.far.text();
      result.gpu = selection_.gpu_text;
      result.memory = memory;
      result.registration = registration;
      result.ok = reply->stage == RegistrationStage::kDone;
      result.code = reply->code;
      result.detail = decode_registration(registration, *reply);
      result.size = kProbeSize;
      if (result.ok) {
        (void)static_cast<bool>(far_.client->call(DestroyBuffer{reply->buffer}));
        const auto& wanted = context_.options.registration;
        if (!wanted || *wanted == registration) works_.emplace(memory, registration);
      }
      context_.listener.on_registration(result);
      context_.report.registrations.push_back(std::move(result));
    }
  }
  return {};
}

Result<Registration> Pair::registration_for(MemoryKind kind) const {
  if (kind == MemoryKind::kHost) return Registration::kHost;
  const auto found = works_.find(kind);
  if (found == works_.end()) return Error{EOPNOTSUPP, "no way of registering it works"};
  return found->second;
}

Result<void> Pair::make_buffer(End& end, MemoryKind kind) {
  Result<Registration> registration = registration_for(kind);
  if (!registration) return registration.error();
  Result<CreateBuffer::Reply> reply =
      end.client->call(CreateBuffer{kind, *registration, end.capacity}, kLongTimeout);
  if (!reply) return reply.error();
  if (reply->stage != RegistrationStage::kDone) {
    return Error{reply->code, std::string(memory_text(kind)) + " memory of " +
                                  size_text(end.capacity) + ": " +
                                  decode_registration(*registration, *reply)};
  }
  end.buffers[kind] = {reply->buffer, reply->address, reply->rkey};
  return {};
}

Result<void> Pair::make_buffers() {
  for (End* end : {&near_, &far_}) {
    if (Result<void> done = make_buffer(*end, MemoryKind::kHost); !done) return done;
    for (MemoryKind kind : context_.options.device_memory) {
      if (!works_.count(kind)) continue;
      if (Result<void> done = make_buffer(*end, kind); !done) return done;
    }
  }
  return {};
}

bool Pair::reaches() {
  if (Result<void> connected = lane_->connect(QueueKind::kRc); !connected) return false;
  const Observation seen =
      kRcWrite.run(*lane_, Case{{MemoryKind::kHost, MemoryKind::kHost}, 64, 0, 0});
  lane_->disconnect();
  return judge(seen) == Symptom::kNone;
}

}  // namespace gdr::proof
