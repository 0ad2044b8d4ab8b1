// A capture as a tree of files, in a folder that another account may know of but cannot change.
//
//   if (auto written = write_tree(capture, "replay/"); !written) ...
#pragma once

#include <string>

#include "base/result.h"
#include "doctor/capture/capture.h"

namespace gdr::doctor {

// The folder is made where there is none. EEXIST: it is not empty; EPERM: another account owns it
// or can write to it.
Result<void> write_tree(const Capture& capture, const std::string& folder);

// Below an open folder, by names one at a time: a link in the place of a folder leads nowhere.
Result<void> write_entries(const Capture& capture, int folder);

}  // namespace gdr::doctor
