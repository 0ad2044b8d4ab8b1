#include "host/archive.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "base/clock.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "host/archive_library.h"

namespace gdr::host {
namespace {

// At most so many bytes, and how many there were; 0: the end; negative: an error.
using Source = std::function<ssize_t(char* bytes, std::size_t count)>;

// What is unpacked from one piece of input is not seen before it is done, so pieces are small.
constexpr std::size_t kPiece = 8 * 1024;
constexpr const char* kUnpackYourself = "; unpack it and give the folder";

struct Input {
  const ArchiveLibrary& library;
  const Source& source;
  const ArchiveLimits& limits;
  Nanoseconds deadline;
  std::array<char, kPiece> piece{};
  const char* refusal = nullptr;

  bool may_go_on(archive* handle) {
    if (library.filter_bytes(handle, 0) > static_cast<std::int64_t>(limits.unpacked)) {
      refusal = "is too large for a captured machine";
    } else if (now() > deadline) {
      refusal = "takes too long to unpack for a captured machine";
    }
    return refusal == nullptr;
  }
};

ssize_t read_piece(archive* handle, void* data, const void** bytes) {
  Input& input = *static_cast<Input*>(data);
  if (!input.may_go_on(handle)) {
    input.library.set_error(handle, EFBIG, "%s", input.refusal);
    return kArchiveFatal;
  }
  const ssize_t got = input.source(input.piece.data(), input.piece.size());
  if (got < 0) {
    input.library.set_error(handle, EIO, "cannot be read");
    return kArchiveFatal;
  }
  *bytes = input.piece.data();
  return got;
}

// If libarchive was built without a compression, it would start a program of that name.
void add_filters(const ArchiveLibrary& library, archive* handle) {
  for (int (*add)(archive*) : {library.read_support_filter_gzip, library.read_support_filter_bzip2,
                               library.read_support_filter_xz, library.read_support_filter_zstd}) {
    const ArchiveHandle trial(library.read_new(), library.read_free);
    if (trial && add(trial.get()) == kArchiveOk) static_cast<void>(add(handle));
  }
}

class Reader {
 public:
  Reader(const ArchiveLibrary& library, const Source& source, const ArchiveLimits& limits)
      : library_(library),
        limits_(limits),
        input_{library, source, limits, now() + static_cast<Nanoseconds>(limits.seconds * 1e9),
               {},      nullptr},
        handle_(library.read_new(), library.read_free) {}

  Result<std::shared_ptr<const ArchiveTree>> read() {
    if (!handle_) return Error{ENOMEM, "libarchive: out of memory"};
    library_.read_support_format_tar(handle_.get());
    add_filters(library_, handle_.get());
    if (library_.read_open(handle_.get(), &input_, nullptr, read_piece, nullptr) != kArchiveOk) {
      return failure();
    }
    // The innermost is the file itself.
    if (library_.filter_count(handle_.get()) > 2) return Error{EINVAL, "is compressed twice"};
    if (Result<void> all = read_entries(); !all) return all.error();
    tree_->leave_folder_around();
    if (tree_->find("sys", true) == nullptr && tree_->find("proc", true) == nullptr) {
      return Error{EINVAL,
                   "has neither a sys nor a proc folder, so it is not a captured machine; give an "
                   "archive of 'gdr doctor capture'"};
    }
    return std::shared_ptr<const ArchiveTree>(std::move(tree_));
  }

 private:
  Error failure() const {
    if (input_.refusal != nullptr) {
      return Error{EINVAL, std::string(input_.refusal) + kUnpackYourself};
    }
    const char* said = library_.error_string(handle_.get());
    return Error{EINVAL, std::string("is not a readable tar archive (") +
                             printable(said != nullptr ? said : "it ends too early") +
                             "); give the folder or .tar file of a captured machine"};
  }

  Result<void> read_entries() {
    std::size_t count = 0;
    for (;;) {
      archive_entry* entry = nullptr;
      const int result = library_.read_next_header(handle_.get(), &entry);
      if (result == kArchiveEof) return {};
      if (result != kArchiveOk && result != kArchiveWarn) return failure();
      if (++count > limits_.entries) {
        return Error{EINVAL,
                     std::string("has too many entries for a captured machine") + kUnpackYourself};
      }
      if (!input_.may_go_on(handle_.get())) return failure();
      if (Result<void> added = add(entry); !added) return added;
    }
  }

  Result<void> add(archive_entry* entry) {
    const char* path = library_.entry_pathname(entry);
    if (path == nullptr) path = library_.entry_pathname_utf8(entry);
    if (path == nullptr) return {};  // none that a check could ask for
    if (Result<void> room = take_room(strlen(path)); !room) return room;
    if (library_.entry_hardlink(entry) != nullptr) {
      return add_copy(path, library_.entry_hardlink(entry));
    }
    switch (library_.entry_filetype(entry)) {
      case S_IFREG:
        return add_file(path, entry);
      case S_IFDIR:
        return tree_->add(path, FileKind::kFolder, {});
      case S_IFLNK: {
        const char* target = library_.entry_symlink(entry);
        // The longest possible link.
        std::string text = target != nullptr && strlen(target) < PATH_MAX ? target : "";
        if (Result<void> room = take_room(text.size()); !room) return room;
        return tree_->add(path, FileKind::kLink, std::move(text));
      }
      default:
        return tree_->add(path, FileKind::kOther, {});
    }
  }

  Result<void> add_copy(const char* path, const char* of) {
    const ArchiveTree::Node* first = tree_->find(of, false);
    if (Result<void> room = take_room(first != nullptr ? first->content.size() : 0); !room) {
      return room;
    }
    return tree_->add_copy(path, of);
  }

  Result<void> add_file(const char* path, archive_entry* entry) {
    const std::int64_t size = library_.entry_size(entry);
    if (size > static_cast<std::int64_t>(limits_.unpacked)) {
      input_.refusal = "is too large for a captured machine";
      return failure();
    }
    if (size > static_cast<std::int64_t>(limits_.file)) {
      return tree_->add(path, FileKind::kRegular, {});
    }
    std::string content;
    for (;;) {
      const void* bytes = nullptr;
      std::size_t count = 0;
      std::int64_t offset = 0;
      const int result = library_.read_data_block(handle_.get(), &bytes, &count, &offset);
      if (result == kArchiveEof) break;
      if (result != kArchiveOk && result != kArchiveWarn) return failure();
      const auto at = static_cast<std::size_t>(offset);
      if (offset < 0 || at < content.size() || at > limits_.file || count > limits_.file - at) {
        return Error{EINVAL, "has a file whose parts do not fit together"};
      }
      if (Result<void> room = take_room(at + count - content.size()); !room) return room;
      content.resize(at, '\0');
      content.append(static_cast<const char*>(bytes), count);
    }
    return tree_->add(path, FileKind::kRegular, std::move(content));
  }

  Result<void> take_room(std::size_t bytes) {
    kept_ += bytes;
    if (kept_ <= limits_.kept) return {};
    return Error{EINVAL, std::string("holds more than a captured machine") + kUnpackYourself};
  }

  const ArchiveLibrary& library_;
  const ArchiveLimits& limits_;
  Input input_;
  ArchiveHandle handle_;
  std::unique_ptr<ArchiveTree> tree_ = std::make_unique<ArchiveTree>();
  std::size_t kept_ = 0;
};

Result<std::shared_ptr<const ArchiveTree>> read_from(const Source& source,
                                                     const ArchiveLimits& limits) {
  const Result<const ArchiveLibrary*> library = ArchiveLibrary::load();
  if (!library) return library.error();
  return Reader(**library, source, limits).read();
}

}  // namespace

Result<std::shared_ptr<const ArchiveTree>> parse_archive(std::string_view bytes,
                                                         const ArchiveLimits& limits) {
  const Source source = [&](char* piece, std::size_t count) {
    const std::size_t size = bytes.copy(piece, count);
    bytes.remove_prefix(size);
    return static_cast<ssize_t>(size);
  };
  return read_from(source, limits);
}

Result<std::shared_ptr<const ArchiveTree>> read_archive(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return from_errno(path);
  if (!S_ISREG(status.st_mode)) {
    return Error{
        EINVAL,
        path + ": neither a folder nor a tar archive; give one that holds sys and proc folders"};
  }
  const Source source = [&](char* piece, std::size_t count) {
    ssize_t got = 0;
    do {
      got = ::read(file.get(), piece, count);
    } while (got < 0 && errno == EINTR);
    return got;
  };
  Result<std::shared_ptr<const ArchiveTree>> tree = read_from(source, {});
  if (!tree) return Error{tree.error().code, path + ": " + tree.error().message};
  return tree;
}

}  // namespace gdr::host
