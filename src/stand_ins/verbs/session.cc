#include "verbs/session.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <iterator>
#include <utility>

#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

using Name = std::pair<dev_t, ino_t>;

// Never destroyed: programs may close devices after main().
struct Sessions {
  std::mutex mutex;
  std::map<Name, std::weak_ptr<Session>> by_name;
  std::vector<std::shared_ptr<Session>> held;  // locked, around a fork
};
Sessions& sessions() {
  static auto* all = new Sessions;
  return *all;
}

}  // namespace

Result<std::shared_ptr<Session>> Session::open(UniqueFd* descriptor) {
  UniqueFd file(memfd_create("gdr-device", MFD_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return from_errno("a command descriptor");
  std::shared_ptr<Session> session(new Session(status.st_dev, status.st_ino));
  // After the device's own, so that these locks are taken before those that are taken under them.
  static const int registered = pthread_atfork(prepare_fork, parent_of_fork, child_of_fork);
  (void)registered;
  const std::lock_guard guard(sessions().mutex);
  sessions().by_name[session->name_] = session;
  *descriptor = std::move(file);
  return session;
}

std::shared_ptr<Session> Session::find(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return nullptr;
  const std::lock_guard guard(sessions().mutex);
  const auto found = sessions().by_name.find({status.st_dev, status.st_ino});
  return found == sessions().by_name.end() ? nullptr : found->second.lock();
}

Session::~Session() {
  const std::lock_guard guard(sessions().mutex);
  sessions().by_name.erase(name_);
}

std::uint64_t Session::adopt(std::function<void()> dispose) {
  const std::lock_guard guard(mutex);
  live_.emplace(++last_serial_, std::move(dispose));
  return last_serial_;
}

void Session::forget(std::uint64_t serial) {
  const std::lock_guard guard(mutex);
  live_.erase(serial);
}

void Session::add(Context* context) {
  const std::lock_guard guard(mutex);
  open_.push_back(context);
}

Device* Session::device() {
  const std::lock_guard guard(mutex);
  return open_.empty() ? nullptr : open_.front()->device;
}

std::vector<Context*> Session::close(Context* context) {
  {
    const std::lock_guard guard(mutex);
    std::erase(open_, context);
    closed_.push_back(context);
    if (!open_.empty()) return {};
  }
  dispose_of_all();
  const std::lock_guard guard(mutex);
  return std::exchange(closed_, {});
}

void Session::dispose_of_all() {
  for (;;) {
    std::function<void()> dispose;
    {
      const std::lock_guard guard(mutex);
      if (live_.empty()) return;
      const auto last = std::prev(live_.end());
      dispose = std::move(last->second);
      live_.erase(last);
    }
    dispose();
  }
}

void Session::lock() {
  mutex.lock();
  for (const auto* contexts : {&open_, &closed_}) {
    for (Context* context : *contexts) context->events_mutex.lock();
  }
}

void Session::unlock() {
  for (const auto* contexts : {&open_, &closed_}) {
    for (Context* context : *contexts) context->events_mutex.unlock();
  }
  mutex.unlock();
}

void Session::prepare_fork() {
  sessions().mutex.lock();
  for (const auto& [name, known] : sessions().by_name) {
    std::shared_ptr<Session> session = known.lock();
    if (session == nullptr) continue;
    session->lock();
    sessions().held.push_back(std::move(session));
  }
}

void Session::parent_of_fork() {
  // Let go of last: the end of a session takes the lock.
  const std::vector<std::shared_ptr<Session>> held = std::exchange(sessions().held, {});
  for (const auto& session : held) session->unlock();
  sessions().mutex.unlock();
}

void Session::child_of_fork() {
  for (const auto& session : sessions().held) {
    session->inherited_ = true;
    for (const auto* contexts : {&session->open_, &session->closed_}) {
      // A program's thread may have held it, and is not here.
      for (Context* context : *contexts) {
        pthread_mutex_init(&context->base.context.mutex, nullptr);
      }
    }
  }
  parent_of_fork();
}

}  // namespace gdr::verbs
