#include "mpi/libraries.h"

namespace gdr::mpi {
namespace {

constexpr const char* kOrigin = "$ORIGIN";
constexpr const char* kOriginInBraces = "${ORIGIN}";

std::string expand(std::string folder, const std::string& origin) {
  for (const std::string token : {kOriginInBraces, kOrigin}) {
    for (std::size_t at = folder.find(token); at != folder.npos; at = folder.find(token)) {
      folder.replace(at, token.size(), origin);
    }
  }
  return folder;
}

void add(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> run_path_of(const SharedObject& object, const std::string& path) {
  std::vector<std::string> folders;
  for (const std::string& folder : object.run_path) {
    folders.push_back(expand(folder, folder_of(path)));
  }
  return folders;
}

std::optional<SharedObject> read_library(const Machine& machine, const std::string& path) {
  return read_shared_object(machine.files, Machine::below_root(path));
}

std::vector<std::string> system_folders(const Machine& machine) {
  std::vector<std::string> folders;
  for (const std::string& name : machine.entries("/etc/ld.so.conf.d")) {
    machine.files.each_line("etc/ld.so.conf.d/" + name, [&](const std::string& line) {
      if (line.starts_with('/')) folders.push_back(line.substr(0, line.find_first_of(" \t\r")));
      return true;
    });
  }
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
                             "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64",
                             "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

std::string find_needed(const Machine& machine, const std::string& from, std::string_view name,
                        const std::vector<std::string>& first) {
  const std::optional<SharedObject> object = read_library(machine, from);
  if (!object) return {};
  std::string wanted;
  for (const std::string& needed : object->needed) {
    if (needed.starts_with(name)) {
      wanted = needed;
      break;
    }
  }
  if (wanted.empty()) return {};
  const std::vector<std::string> own = run_path_of(*object, machine.real_path(from));
  std::vector<std::string> folders;
  if (!object->run_path_is_weak) add(folders, own);
  add(folders, first);
  add(folders, machine.folders("LD_LIBRARY_PATH"));
  if (object->run_path_is_weak) add(folders, own);
  add(folders, system_folders(machine));
  for (const std::string& folder : folders) {
    std::string path = folder;
    path += "/" + wanted;
    if (machine.has(path)) return path;
  }
  return {};
}

void ask_query_function(const Machine& machine, Installation& one) {
  constexpr const char* kFunction = "MPIX_Query_cuda_support";
  if (one.library.empty()) return;
  const auto object = read_library(machine, one.library);
  if (!object || !object->names_complete) return;
  one.query = object->mentions(kFunction) ? Tri::kYes : Tri::kNo;
  if (one.query == Tri::kNo || !one.hung.empty()) return;
  const std::string output = machine.programs.call(one.library, kFunction).output;
  // A library may print something in front of it.
  const std::string_view lines =
      std::string_view(output).substr(0, output.find_last_not_of('\n') + 1);
  const std::string_view last = lines.substr(lines.rfind('\n') + 1);
  if (last == "0" || last == "1") one.query_answer = last;
}

std::string prefix_of_library(const std::string& library) {
  std::string folder = folder_of(library);
  while (folder.size() > 1 && !name_of_file(folder).starts_with("lib")) folder = folder_of(folder);
  return folder_of(folder);
}

std::string file_starting(const Machine& machine, const std::string& folder,
                          std::string_view name) {
  for (const std::string& entry : machine.entries(folder)) {
    if (entry.starts_with(name)) return folder + "/" + entry;
  }
  return {};
}

}  // namespace gdr::mpi
