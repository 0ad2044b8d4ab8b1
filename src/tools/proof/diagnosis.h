// From what a transfer showed to what it means: the symptom in one sentence, the likely causes in
// order, and the next command. Pure functions.
//
//   Symptom symptom = judge(observation);
//   if (symptom != Symptom::kNone) puts(describe(symptom, observation).c_str());
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "participants/pattern.h"
#include "proof/messages.h"
#include "text/command.h"

namespace gdr::proof {

// What one transfer showed.
struct Observation {
  std::optional<Error> refused;  // it could not be asked for, or a worker was lost
  bool has_receive = false;      // the target should see a completion too
  std::optional<Completion> sent;
  std::optional<Completion> received;
  std::optional<Damage> damage;  // the owner's view of the target memory
  std::string wrong;             // what else was not as it should be: an immediate, a length
};

enum class Symptom {
  kNone,
  kRefused,
  kSendError,              // the initiator's completion reports an error
  kReceiveError,           // the target's does
  kCompletionWithoutData,  // success was reported and the memory is unchanged
  kDataWithoutCompletion,  // the data is there, a completion is missing
  kNothingArrived,         // neither
  kDisplaced,
  kStale,
  kBitFlipped,
  kTailMissing,
  kPartMissing,
  kCorrupted,
  kGuardOverwritten,
  kWrongMetadata,
};

Symptom judge(const Observation& observation);
std::string describe(Symptom symptom, const Observation& observation);

// What is known around a failed transfer.
struct Circumstances {
  QueueKind queue = QueueKind::kRc;
  bool soft_nic = false;
  bool soft_gpu = false;
  bool device_memory = true;  // at either end
  bool same_nic = false;      // initiator and target are one NIC port
  bool ethernet = true;
  Registration registration = Registration::kDmaBuf;
  bool host_works = true;  // the same mode between host buffers was right
  bool counters_known = false;
  bool receiver_moved = false;  // the receiving port's packet counters did
  bool two_hosts = false;
  std::string near, far;  // NIC names
  std::string far_host;   // of the receiving port, where it is another one
};

struct Advice {
  std::vector<std::string> causes;  // the likeliest first
  text::Command next;
};
Advice advise(Symptom symptom, const Observation& observation, const Circumstances& around);

// A failed registration: "14 EFAULT: no peer-memory client …".
std::string decode_registration(Registration registration, const CreateBuffer::Reply& reply);

}  // namespace gdr::proof
