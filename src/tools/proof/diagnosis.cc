#include "proof/diagnosis.h"

#include <infiniband/verbs.h>

namespace gdr::proof {
namespace {

Symptom of_damage(Damage::Kind kind) {
  using Kind = Damage::Kind;
  switch (kind) {
    case Kind::kIntact:
      return Symptom::kNone;
    case Kind::kUnchanged:
      return Symptom::kCompletionWithoutData;
    case Kind::kDisplaced:
      return Symptom::kDisplaced;
    case Kind::kStale:
      return Symptom::kStale;
    case Kind::kBitFlipped:
      return Symptom::kBitFlipped;
    case Kind::kTailMissing:
      return Symptom::kTailMissing;
    case Kind::kPartMissing:
      return Symptom::kPartMissing;
    case Kind::kGuardOverwritten:
      return Symptom::kGuardOverwritten;
    case Kind::kCorrupted:
      break;
  }
  return Symptom::kCorrupted;
}

bool failed(const std::optional<Completion>& completion) {
  return completion && completion->seen && completion->status != 0;
}

std::string completion_text(const Completion& completion) {
  return completion.status_text + " (status " + std::to_string(completion.status) +
         ", vendor error " + std::to_string(completion.vendor_error) + ")";
}

// Names the completion that is missing.
std::string missing_completion(const Observation& seen) {
  if (!seen.sent || !seen.sent->seen) return "the sender's completion never came";
  return "the receiver's completion never came";
}

}  // namespace

Symptom judge(const Observation& seen) {
  if (seen.refused) return Symptom::kRefused;
  if (failed(seen.sent)) return Symptom::kSendError;
  if (failed(seen.received)) return Symptom::kReceiveError;
  const bool completed =
      seen.sent && seen.sent->ok() && (!seen.has_receive || (seen.received && seen.received->ok()));
  const bool arrived = seen.damage && seen.damage->data_arrived();
  if (!completed) return arrived ? Symptom::kDataWithoutCompletion : Symptom::kNothingArrived;
  if (seen.damage) {
    const Symptom symptom = of_damage(seen.damage->kind);
    if (symptom != Symptom::kNone) return symptom;
  }
  return seen.wrong.empty() ? Symptom::kNone : Symptom::kWrongMetadata;
}

std::string describe(Symptom symptom, const Observation& seen) {
  std::string found = seen.damage ? describe(*seen.damage) : "the memory could not be read";
  switch (symptom) {
    case Symptom::kNone:
      return found;
    case Symptom::kRefused:
      return seen.refused ? seen.refused->message : "refused";
    case Symptom::kSendError:
      return "completion with error: " + completion_text(*seen.sent);
    case Symptom::kReceiveError:
      return "the receiver's completion has an error: " + completion_text(*seen.received);
    case Symptom::kCompletionWithoutData:
      return "completion without data: success was reported, but " + found;
    case Symptom::kDataWithoutCompletion:
      return "data without completion: " + missing_completion(seen) + ", yet " +
             (seen.damage && seen.damage->kind == Damage::Kind::kIntact ? "every byte arrived"
                                                                        : found);
    case Symptom::kNothingArrived:
      return "no completion and no data: " + missing_completion(seen) + ", and " + found;
    case Symptom::kWrongMetadata:
      return seen.wrong;
    default:
      return found;
  }
}

}  // namespace gdr::proof
