// The kinds of change, a file each. What is listed here makes one of a record, or says why that is
// no record of its kind; change_of() chooses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fix/change.h"

namespace gdr::fix {

Result<ChangePtr> access_control_of(const Record& record);
Result<ChangePtr> max_read_request_of(const Record& record);
Result<ChangePtr> module_of(const Record& record);
Result<ChangePtr> stored_module_of(const Record& record);
Result<ChangePtr> text_file_of(const Record& record);
Result<ChangePtr> persistence_mode_of(const Record& record);
Result<ChangePtr> service_of(const Record& record);

Error no_such_record(const Record& record, const std::string& reason);

}  // namespace gdr::fix
