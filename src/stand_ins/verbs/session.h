// Session: the objects of an opened device. ibv_import_device gives a second context to the same
// session; it ends with the last of its contexts, as what the kernel keeps for a command descriptor
// does. What is still alive then is destroyed, last made first.
//
//   std::shared_ptr<Session> session = *Session::open(&descriptor);
//   std::shared_ptr<Session> same = Session::find(dup(descriptor));   // in this process
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::verbs {

struct Context;
struct Device;
struct Dm;
struct Mr;
struct Pd;

class Session {
 public:
  // The command descriptor only names the context.
  static Result<std::shared_ptr<Session>> open(UniqueFd* descriptor);
  // Null for a descriptor of another process, or one that names nothing.
  static std::shared_ptr<Session> find(int descriptor);
  ~Session();

  // Remembers how to destroy an object; the number goes into its `serial`.
  std::uint64_t adopt(std::function<void()> dispose);
  void forget(std::uint64_t serial);

  // What can be imported, by handle; under `mutex`.
  std::mutex mutex;
  std::map<std::uint32_t, Pd*> domains;
  std::map<std::uint32_t, Mr*> regions;
  std::map<std::uint32_t, Dm*> device_memories;

  void add(Context* context);
  Device* device();  // of its contexts; null once all are closed
  // The contexts to delete: all, once everything is destroyed, or none while one is still open.
  std::vector<Context*> close(Context* context);

  // In a fork's child, of the parent's. Its objects can be destroyed, which leaves alone what both
  // processes see (the descriptors of events) and what a thread may have held that is not there.
  bool is_inherited() const { return inherited_; }

 private:
  static void prepare_fork();
  static void parent_of_fork();
  static void child_of_fork();
  void lock();
  void unlock();
  Session(dev_t device, ino_t inode) : name_(device, inode) {}
  void dispose_of_all();

  const std::pair<dev_t, ino_t> name_;
  std::vector<Context*> open_, closed_;  // under `mutex`
  bool inherited_ = false;
  std::uint64_t last_serial_ = 0;
  std::map<std::uint64_t, std::function<void()>> live_;
};

}  // namespace gdr::verbs
