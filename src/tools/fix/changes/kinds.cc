#include "fix/changes/kinds.h"

#include <fmt/format.h>

#include <array>

namespace gdr::fix {
namespace {

struct Kind {
  const char* name;
  Result<ChangePtr> (*make)(const Record& record);
};
constexpr std::array kKinds = {Kind{kAccessControl, access_control_of},
                               Kind{kMaxReadRequest, max_read_request_of},
                               Kind{kModule, module_of},
                               Kind{kModuleFile, stored_module_of},
                               Kind{kTextFile, text_file_of},
                               Kind{kPersistenceMode, persistence_mode_of},
                               Kind{kService, service_of}};

}  // namespace

Error no_such_record(const Record& record, const std::string& reason) {
  return {EINVAL, fmt::format("gdr fix makes no such change of kind {}: {}", record.kind, reason)};
}

Result<ChangePtr> change_of(const Record& record) {
  if (record.old_value == record.new_value) return no_such_record(record, "old is new");
  for (const Kind& kind : kKinds) {
    if (record.kind == kind.name) return kind.make(record);
  }
  return Error{EINVAL, "unknown kind of change '" + record.kind + "'"};
}

}  // namespace gdr::fix
