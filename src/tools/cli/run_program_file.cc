#include "cli/run_program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/environment.h"
#include "base/unique_fd.h"

namespace gdr::cli {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kOwnMachine = EM_AARCH64;
#else
#error "gdrkit runs on x86-64 and 64-bit Arm"
#endif

// A script's interpreter may be a script in turn; the kernel gives up after four.
constexpr int kMostInterpreters = 4;

// A read-only view of a file. Every offset in it comes from the file and is checked before use.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (fd.get() < 0 || fstat(fd.get(), &status) != 0) {
      return Error{errno, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    MappedFile file;
    file.size_ = static_cast<std::size_t>(status.st_size);
    if (file.size_ == 0) return file;
    void* address = mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (address == MAP_FAILED)
      return Error{errno, fmt::format("{}: {}", path, std::strerror(errno))};
    file.data_ = static_cast<const char*>(address);
    return file;
  }

  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }

  template <typename T>
  std::optional<T> read(std::uint64_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + offset, sizeof(T));
    return value;
  }

  // The text from `offset` to its terminating zero; empty if it has none.
  std::string text(std::uint64_t offset) const {
    if (offset >= size_) return {};
    const void* end = std::memchr(data_ + offset, 0, size_ - offset);
    return end == nullptr ? std::string() : std::string(data_ + offset);
  }

  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

std::vector<Elf64_Phdr> program_headers(const MappedFile& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> headers;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return headers;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    auto entry = file.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!entry) break;
    headers.push_back(*entry);
  }
  return headers;
}

std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& headers,
                                         std::uint64_t address) {
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
        address - header.p_vaddr < header.p_filesz) {
      return header.p_offset + (address - header.p_vaddr);
    }
  }
  return std::nullopt;
}

void read_dynamic_section(const MappedFile& file, const std::vector<Elf64_Phdr>& headers,
                          const Elf64_Phdr& dynamic, ProgramFile& program) {
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> strings;
  bool has_runpath = false;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    auto entry = file.read<Elf64_Dyn>(dynamic.p_offset + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) needed.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB) strings = file_offset(headers, entry->d_un.d_ptr);
    if (entry->d_tag == DT_RPATH) program.has_rpath = true;
    if (entry->d_tag == DT_RUNPATH) has_runpath = true;
  }
  // The loader ignores DT_RPATH where there is a DT_RUNPATH.
  program.has_rpath = program.has_rpath && !has_runpath;
  if (!strings) return;
  for (std::uint64_t name : needed) program.needed.push_back(file.text(*strings + name));
}

bool needs_shared_cudart(const ProgramFile& program) {
  for (const std::string& name : program.needed) {
    if (name.rfind("libcudart.so", 0) == 0) return true;
  }
  return false;
}

void inspect_elf(const MappedFile& file, ProgramFile& program) {
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kOwnMachine) {
    program.kind = ProgramKind::kForeign;
    return;
  }
  program.kind = ProgramKind::kStatic;
  const std::vector<Elf64_Phdr> headers = program_headers(file, *header);
  for (const Elf64_Phdr& entry : headers) {
    if (entry.p_type == PT_INTERP) program.kind = ProgramKind::kDynamic;
    if (entry.p_type == PT_DYNAMIC) read_dynamic_section(file, headers, entry, program);
  }
  // A name that only the runtime's own table of errors holds, beside the driver that it loads. It
  // is put together here, so that this program is not taken for one.
  const std::string name = std::string("cudaErrorMissing") + "Configuration";
  program.static_cudart = !needs_shared_cudart(program) &&
                          file.bytes().find(name) != std::string_view::npos &&
                          file.bytes().find("libcuda.so.1") != std::string_view::npos;
}

bool runs_privileged(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getgid()) return true;
  return getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// "#!/usr/bin/env -S python3 -u" -> "/usr/bin/env"
std::string interpreter_of(std::string_view bytes) {
  std::string_view line = bytes.substr(2, bytes.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

}  // namespace

Result<ProgramFile> inspect_program(const std::string& path) {
  ProgramFile program;
  program.path = path;
  for (int depth = 0; depth <= kMostInterpreters; ++depth) {
    Result<MappedFile> file = MappedFile::open(program.path);
    if (!file) {
      // A program may be executable and not readable; then nothing is known about it.
      if (file.error().code == EACCES) return program;
      return file.error();
    }
    const std::string_view bytes = file->bytes();
    if (bytes.substr(0, SELFMAG) == std::string_view(ELFMAG, SELFMAG)) {
      program.privileged = runs_privileged(program.path);
      inspect_elf(*file, program);
      return program;
    }
    if (bytes.substr(0, 2) != "#!") return program;
    program.path = interpreter_of(bytes);
  }
  return program;
}

}  // namespace gdr::cli
