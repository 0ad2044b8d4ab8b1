#include "process/accounts.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

namespace gdr::process {
namespace {

constexpr gid_t kDebianStaff = 50;  // base-passwd has given it this number

// This and find_group() read the system's own files and not what a directory service says: to ask
// one would load its library, perhaps from a folder that is only being judged. False: not all of
// the file could be read.
template <typename Take>
bool each_account(Take take) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/etc/passwd", "re"), std::fclose);
  std::array<char, 65536> buffer;
  passwd entry{};
  passwd* next = nullptr;
  int error = file ? 0 : ENOENT;
  while (error == 0) {
    error = fgetpwent_r(file.get(), &entry, buffer.data(), buffer.size(), &next);
    if (error == 0) take(entry);
  }
  return file && error == ENOENT;
}

struct Group {
  std::string name;
  std::vector<std::string> members;
};

Group group_of(const struct group& entry) {
  Group found{entry.gr_name, {}};
  for (char** member = entry.gr_mem; *member != nullptr; ++member) {
    found.members.emplace_back(*member);
  }
  return found;
}

std::optional<Group> find_group(gid_t group) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/etc/group", "re"), std::fclose);
  std::vector<char> buffer(1 << 20);
  struct group entry {};
  struct group* next = nullptr;
  while (file && fgetgrent_r(file.get(), &entry, buffer.data(), buffer.size(), &next) == 0) {
    if (entry.gr_gid == group) return group_of(entry);
  }
  return {};
}

// The group of this account's name, in which it is alone. A directory service may have both; where
// its library comes from is the choice of every account but root, which has no such group.
bool is_own_private_group(gid_t group) {
  if (geteuid() == 0) return false;
  std::vector<char> accounts(1 << 16), groups(1 << 20);
  passwd account{};
  passwd* own = nullptr;
  struct group entry {};
  struct group* found = nullptr;
  getpwuid_r(geteuid(), &account, accounts.data(), accounts.size(), &own);
  getgrgid_r(group, &entry, groups.data(), groups.size(), &found);
  if (own == nullptr || found == nullptr || own->pw_gid != group) return false;
  const std::string name = own->pw_name;
  const Group read = group_of(*found);
  return read.name == name &&
         std::ranges::count(read.members, name) == static_cast<std::ptrdiff_t>(read.members.size());
}

}  // namespace

bool is_trusted(uid_t user) {
  struct stat root {};
  return user == 0 || user == geteuid() || (stat("/", &root) == 0 && root.st_uid == user);
}

bool has_trusted_members_only(gid_t group) {
  if (is_own_private_group(group)) return true;
  const std::optional<Group> found = find_group(group);
  if (!found || (group != 0 && (group != kDebianStaff || found->name != "staff"))) return false;
  bool is_safe = true;
  std::size_t members_seen = 0;
  const bool complete = each_account([&](const passwd& account) {
    const bool is_member =
        std::ranges::find(found->members, account.pw_name) != found->members.end();
    if (is_member) ++members_seen;
    if ((is_member || account.pw_gid == group) && !is_trusted(account.pw_uid)) is_safe = false;
  });
  // A member that is none of the system's own accounts is somebody from a directory service.
  return complete && is_safe && members_seen == found->members.size();
}

std::string name_of_account(uid_t user) {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : std::string();
}

std::string name_of_group(gid_t group) {
  const std::optional<Group> found = find_group(group);
  return found ? found->name : std::to_string(group);
}

}  // namespace gdr::process
