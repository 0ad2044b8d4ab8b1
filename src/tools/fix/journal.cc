#include "fix/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/kill_point.h"
#include "fix/on_disk.h"

namespace gdr::fix {
namespace {

constexpr std::size_t kLargest = 4 * 1024 * 1024;

// Otherwise another user could make gdr fix write for him.
Result<void> check_owner(const struct stat& found, const std::string& name) {
  if (found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Error{
      EPERM,
      name + " is writable by other users; remove it, or choose another folder with --journal"};
}

Result<void> make_folders(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    // Only the last one is the journal's own.
    const mode_t mode = end == std::string::npos ? 0700 : 0755;
    if (mkdir(part.c_str(), mode) != 0 && errno != EEXIST) return from_errno(part);
    if (end == std::string::npos) return {};
  }
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

Result<UniqueFd> open_journal(const std::string& name, int flags) {
  UniqueFd file(open(name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file) return from_errno(name);
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return from_errno(name);
  if (!S_ISREG(found.st_mode)) return Error{EINVAL, name + " is not a regular file"};
  return file;
}

Result<UniqueFd> take_lock(const std::string& folder) {
  const std::string name = folder + "/lock";
  Result<UniqueFd> file = open_journal(name, O_RDWR | O_CREAT);
  if (!file) return file;
  if (flock(file->get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return from_errno(name);
  return Error{EBUSY, "another gdr fix is running (it holds " + name + "); wait until it ends"};
}

}  // namespace

std::string journal_file(const std::string& folder) { return folder + "/journal"; }

Result<JournalContent> read_journal(const std::string& folder) {
  const std::string name = journal_file(folder);
  const Result<UniqueFd> file = open_journal(name, O_RDONLY);
  if (!file && file.error().code == ENOENT) return JournalContent();
  if (!file) return file.error();
  const Result<std::string> text = read_all(file->get(), name);
  if (!text) return text.error();
  return parse_journal(*text);
}

Result<Journal> Journal::open(const std::string& folder) {
  if (Result<void> made = make_folders(folder); !made) return made.error();
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) return from_errno(folder);
  if (!S_ISDIR(found.st_mode)) return Error{ENOTDIR, folder + " is not a folder"};
  if (Result<void> ours = check_owner(found, folder); !ours) return ours.error();
  Result<UniqueFd> lock = take_lock(folder);
  if (!lock) return lock.error();

  Journal journal(folder, *std::move(lock));
  const std::string name = journal_file(folder);
  Result<UniqueFd> file = open_journal(name, O_RDWR | O_CREAT | O_APPEND);
  if (!file) return file.error();
  if (fstat(file->get(), &found) != 0) return from_errno(name);
  if (Result<void> ours = check_owner(found, name); !ours) return ours.error();
  const Result<std::string> text = read_all(file->get(), name);
  if (!text) return text.error();
  journal.content_ = parse_journal(*text);
  // The next line must not be the end of one that was never finished.
  const std::size_t whole = text->rfind('\n') + 1;  // 0 where there is none
  if (journal.content_.torn && ftruncate(file->get(), static_cast<off_t>(whole)) != 0) {
    return from_errno(name);
  }
  if (Result<void> flushed = flush_folder(folder); !flushed) return flushed.error();
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
  const std::string line = journal_line(id, record);
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
  const std::string name = journal_file(folder_), fresh = name + ".new";
  if (content_.entries.empty()) {
    if (ftruncate(file_.get(), 0) != 0 || fsync(file_.get()) != 0) return from_errno(name);
    return {};
  }
  unlink(fresh.c_str());
  Result<UniqueFd> file = open_journal(fresh, O_RDWR | O_CREAT | O_EXCL | O_APPEND);
  if (!file) return file.error();
  std::string text;
  for (const Entry& entry : content_.entries) {
    text += journal_line(entry.id, entry.record);
    if (entry.state != State::kBegun) text += journal_line(entry.id, entry.state);
  }
  if (Result<void> written = write_to_disk(file->get(), text, fresh); !written) return written;
  kill_point("fix_journal_beside");
  if (rename(fresh.c_str(), name.c_str()) != 0) return from_errno(name);
  file_ = *std::move(file);
  return flush_folder(folder_);
}

}  // namespace gdr::fix
