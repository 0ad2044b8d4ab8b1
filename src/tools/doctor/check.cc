#include "doctor/check.h"

#include <utility>

namespace gdr::doctor {

Action to_type(text::Command command, std::string note) {
  return {std::move(command), std::move(note), {}};
}

Action to_type(text::CommandForm<0> command, std::string note) {
  return to_type(text::Command(command), std::move(note));
}

Action to_do(std::string note) { return {{}, std::move(note), {}}; }

Action by_gdr_fix(const char* topic, text::Command by_hand) {
  return {text::Command("sudo gdr fix {} --apply", topic), {}, std::move(by_hand)};
}

Action by_gdr_fix_for_good(const char* topic, text::Command by_hand) {
  return {text::Command("sudo gdr fix {} --apply --persist", topic), {}, std::move(by_hand)};
}

Findings does_not_apply(std::string why) {
  Findings none;
  none.does_not_apply = std::move(why);
  return none;
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kWarn:
      return "warn";
    case Outcome::kFail:
      return "fail";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

const char* name_of(Area area) {
  switch (area) {
    case Area::kGpu:
      return "gpu";
    case Area::kRegistration:
      return "registration";
    case Area::kPcie:
      return "pcie";
    case Area::kNic:
      return "nic";
    case Area::kProcess:
      break;
  }
  return "process";
}

}  // namespace gdr::doctor
