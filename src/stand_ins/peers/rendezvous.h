// Rendezvous: the places where the sockets of this user's processes lie, one name for each slot.
//
// A folder that nobody else can enter comes first: $XDG_RUNTIME_DIR, /run/user/UID,
// /tmp/gdrkit-UID, if it is this user's own and closed to others; in it a folder for each network
// namespace. Names in the kernel's abstract namespace are for where there is none: another account
// can take all of them. Processes need not agree on a place: each binds one socket and looks in all
// places.
//
//   for (const MeetingPlace& place : places()) {
//     UniqueFd connection = place.call(slot, deadline) ...
//
// An empty file stays behind when a process is killed; the next one that starts removes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::peers {

class MeetingPlace {
 public:
  // An abstract name.
  MeetingPlace() = default;
  // A folder of this user's own, empty for abstract names.
  explicit MeetingPlace(std::string folder) : folder_(std::move(folder)) {}

  bool is_folder() const { return !folder_.empty(); }
  // EADDRINUSE: somebody is there. What a dead process left there is removed.
  Result<UniqueFd> listen_at(std::uint32_t slot) const;
  // ECONNREFUSED: nobody is there; EAGAIN: whoever is there takes no calls before `deadline`.
  Result<UniqueFd> call(std::uint32_t slot, Nanoseconds deadline) const;
  // Where somebody may be; of abstract names, where somebody takes calls.
  std::vector<std::uint32_t> slots() const;
  // Removes what dead processes left there. `refused`: sorted, the slots at which nobody answered.
  void sweep(const std::vector<std::uint32_t>& refused) const;
  // The same for folders of network namespaces that nobody has used for a while.
  void sweep_others() const;
  // Frees this process's own slot.
  void leave(std::uint32_t slot) const;

 private:
  // The file of a slot; empty for an abstract name.
  std::string path_of(std::uint32_t slot) const;
  std::string parent() const { return folder_.substr(0, folder_.rfind('/')); }
  bool is_dead(std::uint32_t slot) const;

  std::string folder_;
};

// In the order in which they are tried. Makes the folders that may be missing.
std::vector<MeetingPlace> places();

}  // namespace gdr::peers
