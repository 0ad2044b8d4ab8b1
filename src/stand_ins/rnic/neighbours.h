// Neighbours: the other processes of this host, as the device needs them (src/stand_ins/peers).
#pragma once

#include <cstdint>
#include <functional>

namespace gdr::rnic {

class Segment;

class Neighbours {
 public:
  virtual ~Neighbours() = default;

  // A receive was posted while the process in that slot was waiting for one.
  virtual void receive_posted(std::uint32_t slot) = 0;

  // Whether `holds` says so of the segment of any other process. Cold.
  virtual bool any_segment(const std::function<bool(Segment&)>& holds) = 0;

  // Whether this process has met every other one. Calls whoever it has not; false: somebody has not
  // answered yet, and may be expected to. Looks for who is there now, and does not wait. Cold.
  virtual bool knows_everyone() = 0;

  // Returns when the copy that this process's service thread makes for another one has ended. Cold.
  virtual void settle() = 0;

  // How often such a copy has begun or ended: odd while one is in progress.
  virtual std::uint64_t copies_for_others() = 0;

  // Has Adapter::serve called soon, by the service thread.
  virtual void wake_service() = 0;

  // What other processes may open of this one's memory has changed: they are told.
  virtual void exports_changed() = 0;
};

}  // namespace gdr::rnic
