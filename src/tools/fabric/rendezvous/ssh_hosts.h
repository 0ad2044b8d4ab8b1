// The hosts of --hosts: names, in the file or the list that a user gives.
//
//   Result<std::vector<std::string>> hosts = read_hosts("hosts.txt");   // a name a line
//   Result<std::vector<std::string>> hosts = read_hosts("n[01-16],root@n20");
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gdr::fabric {

// A file where `given` has a slash or names one; else a list. EINVAL: a host is there twice, or is
// no name; ENOENT: no such file.
Result<std::vector<std::string>> read_hosts(const std::string& given);

// A host a line, or several in Slurm's notation; what follows '#' is a comment. "slots=8" behind a
// host, as in files for Open MPI, is skipped. `name` is the file's, for errors.
Result<std::vector<std::string>> hosts_of_file(std::string_view text, const std::string& name);

// "n[01-16],n20"; each may be USER@HOST.
Result<std::vector<std::string>> hosts_of_list(std::string_view text);

}  // namespace gdr::fabric
