#include "fix/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/kill_point.h"
#include "base/output_file.h"
#include "base/output_walk.h"
#include "fix/on_disk.h"

namespace gdr::fix {
namespace {

constexpr std::size_t kLargest = 4 * 1024 * 1024;
constexpr std::size_t kRoomForStates = 128;  // of one change: that it is done, and undone

constexpr const char* kName = "journal";
constexpr const char* kFresh = "journal.new";

// Whoever can write a journal decides what gdr fix undoes. root's may be read by others.
Result<void> check_owner(int file, const std::string& name) {
  struct stat found {};
  if (fstat(file, &found) != 0) return from_errno(name);
  const bool trusted = found.st_uid == geteuid() || found.st_uid == 0;
  if (trusted && !others_write(found)) return {};
  return Error{
      EPERM,
      name + " is writable by other users; remove it, or choose another folder with --journal"};
}

Result<std::string> read_all(int file, const std::string& name) {
  std::string text(kLargest + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got =
        pread(file, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got < 0) return from_errno(name);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kLargest)
    return Error{EFBIG, name + " is larger than 4 MiB, so it is not a journal of gdr fix"};
  text.resize(size);
  return text;
}

// By its name in the folder that is open. `shown`: its path.
Result<UniqueFd> open_journal(int folder, const char* name, int flags, const std::string& shown) {
  UniqueFd file(openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file) return from_errno(shown);
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return from_errno(shown);
  if (!S_ISREG(found.st_mode)) return Error{EINVAL, shown + " is not a regular file"};
  if (Result<void> ours = check_owner(file.get(), shown); !ours) return ours.error();
  return file;
}

Result<UniqueFd> take_lock(int folder, const std::string& name) {
  Result<UniqueFd> file = open_journal(folder, "lock", O_RDWR | O_CREAT, name);
  if (!file) return file;
  if (flock(file->get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return from_errno(name);
  return Error{EBUSY, "another gdr fix is running (it holds " + name + "); wait until it ends"};
}

}  // namespace

std::string journal_file(const std::string& folder) { return folder + "/" + kName; }

Result<JournalContent> read_journal(const std::string& folder) {
  const UniqueFd opened(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened && errno == ENOENT) return JournalContent();
  if (!opened) return from_errno(folder);
  if (Result<void> ours = check_owner(opened.get(), folder); !ours) return ours.error();
  const std::string name = journal_file(folder);
  const Result<UniqueFd> file = open_journal(opened.get(), kName, O_RDONLY, name);
  if (!file && file.error().code == ENOENT) return JournalContent();
  if (!file) return file.error();
  const Result<std::string> text = read_all(file->get(), name);
  if (!text) return text.error();
  return parse_journal(*text);
}

Result<Journal> Journal::open(const std::string& folder) {
  Result<UniqueFd> opened = open_output_folder(folder);
  if (!opened) return opened.error();
  Result<UniqueFd> lock = take_lock(opened->get(), folder + "/lock");
  if (!lock) return lock.error();

  Journal journal(folder, *std::move(opened), *std::move(lock));
  const std::string name = journal_file(folder);
  Result<UniqueFd> file =
      open_journal(journal.place_.get(), kName, O_RDWR | O_CREAT | O_APPEND, name);
  if (!file) return file.error();
  const Result<std::string> text = read_all(file->get(), name);
  if (!text) return text.error();
  journal.content_ = parse_journal(*text);
  // The next line must not be the end of one that was never finished.
  const std::size_t whole = text->rfind('\n') + 1;  // 0 where there is none
  if (journal.content_.torn && ftruncate(file->get(), static_cast<off_t>(whole)) != 0) {
    return from_errno(name);
  }
  if (fsync(journal.place_.get()) != 0) return from_errno(folder);
  journal.file_ = *std::move(file);
  return journal;
}

Result<void> Journal::append(const std::string& line) {
  struct stat before {};
  if (fstat(file_.get(), &before) != 0) return from_errno(journal_file(folder_));
  Result<void> written = write_to_disk(file_.get(), line, journal_file(folder_));
  // Half a line, on a full disk, must not swallow the next one.
  if (!written && ftruncate(file_.get(), before.st_size) != 0) return written;
  return written;
}

Result<unsigned> Journal::begin(const Record& record) {
  unsigned id = 1;
  for (const Entry& entry : content_.entries) id = std::max(id, entry.id + 1);
  kill_point("fix_planned");
  const std::string line = journal_line(id, record), name = journal_file(folder_);
  struct stat now {};
  if (fstat(file_.get(), &now) != 0) return from_errno(name);
  // What could not be read back could not be undone.
  if (content_.entries.size() >= kMostEntries || parse_journal(line).entries.size() != 1 ||
      static_cast<std::size_t>(now.st_size) + line.size() +
              (content_.entries.size() + 1) * kRoomForStates >
          kLargest) {
    return Error{EFBIG, name + " takes no more changes; type sudo gdr fix --undo"};
  }
  if (Result<void> written = append(line); !written) return written.error();
  content_.entries.push_back({id, record, State::kBegun});
  return id;
}

Result<void> Journal::mark(unsigned id, State state) {
  if (Result<void> written = append(journal_line(id, state)); !written) return written;
  for (Entry& entry : content_.entries) {
    if (entry.id == id) entry.state = state;
  }
  return {};
}

Result<void> Journal::tidy() {
  // Lines that nobody understands are kept: they may say what somebody needs to know.
  if (!content_.not_understood.empty()) return {};
  std::erase_if(content_.entries, [](const Entry& entry) { return entry.state == State::kUndone; });
  const std::string name = journal_file(folder_), fresh = folder_ + "/" + kFresh;
  const int place = place_.get();
  unlinkat(place, kFresh, 0);  // of a gdr fix that was killed
  if (content_.entries.empty()) {
    if (ftruncate(file_.get(), 0) != 0 || fsync(file_.get()) != 0) return from_errno(name);
    return {};
  }
  Result<UniqueFd> file = open_journal(place, kFresh, O_RDWR | O_CREAT | O_EXCL | O_APPEND, fresh);
  if (!file) return file.error();
  std::string text;
  for (const Entry& entry : content_.entries) {
    text += journal_line(entry.id, entry.record);
    if (entry.state != State::kBegun) text += journal_line(entry.id, entry.state);
  }
  if (Result<void> written = write_to_disk(file->get(), text, fresh); !written) {
    unlinkat(place, kFresh, 0);
    return written;
  }
  kill_point("fix_journal_beside");
  if (renameat(place, kFresh, place, kName) != 0) return from_errno(name);
  file_ = *std::move(file);
  return fsync(place) == 0 ? Result<void>() : from_errno(folder_);
}

}  // namespace gdr::fix
