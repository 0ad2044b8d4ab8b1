// Accounts and groups, as process/trust.h judges them.
#pragma once

#include <sys/types.h>

#include <string>

namespace gdr::process {

// Root, this account, and whoever owns "/": that account has the whole machine. In a user namespace
// that does not know root, this is how the kernel shows root, and with it all strangers.
bool is_trusted(uid_t user);

// Whether nobody else is in the group. Besides the private one only groups that are meant for
// administrators come into question: a directory service may put anybody into others.
bool has_trusted_members_only(gid_t group);

std::string name_of_account(uid_t user);  // empty: it has none
std::string name_of_group(gid_t group);   // its number, where it has none

}  // namespace gdr::process
