// The file that a program's name leads to, and whether it may be started.
//
//   Result<std::string> path = find_program("mpirun", search_path());
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "process/trust.h"

namespace gdr::process {

// What execvp() searches: PATH, or its default where that is unset.
std::string search_path();

// "/opt/x/bin/mpirun is not started: /opt/x belongs to bob".
Error not_started(const std::string& program, const Stranger& stranger);

// EPERM, as above: an account besides root and this one could change the file.
Result<void> may_start(const std::string& program);

using Judge = Result<void>(const std::string& program);

// The path at which execvp() would find `name`: unchanged if it has a slash, otherwise along
// `search_path`. A file that `judge` refuses is passed over. ENOENT: there is no such file; EACCES:
// none may be executed; else the first refusal.
Result<std::string> find_program(const std::string& name, std::string_view search_path,
                                 Judge* judge = nullptr);

}  // namespace gdr::process
