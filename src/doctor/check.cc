#include "doctor/check.h"

namespace gdr::doctor {

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
