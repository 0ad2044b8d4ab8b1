#include "peermem/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "peermem/driver_source.h"
#include "peermem/symvers.h"

namespace gdr::peermem {
namespace {

using host::Tri;

// srcversion is a hash over the sources that a module was built from, so it tells two builds apart
// that have the same release.
Tri is_loaded(const host::Files& files, const ModuleFile& module) {
  const std::string folder = "sys/module/" + module.name + "/";
  if (!files.exists(folder)) return Tri::kNo;
  const std::string source = files.line(folder + "srcversion");
  if (!source.empty() && !module.srcversion.empty()) {
    return source == module.srcversion ? Tri::kYes : Tri::kNo;
  }
  const std::string version = files.line(folder + "version");
  if (version.empty() || module.version.empty()) return Tri::kUnknown;
  return version == module.version ? Tri::kYes : Tri::kNo;
}

std::vector<FoundModule> read_all(const host::Files& files, const std::vector<Place>& places) {
  std::vector<FoundModule> all;
  for (const Place& place : places) {
    FoundModule found{place, {}, {}, Tri::kUnknown};
    Result<ModuleFile> module = read_module(files, place.path);
    if (module) {
      found.module = *std::move(module);
      found.loaded = is_loaded(files, found.module);
    } else {
      found.problem = module.error().message;
    }
    all.push_back(std::move(found));
  }
  return all;
}

int order(const FoundModule& one) {
  if (!one.problem.empty()) return 3;
  return one.loaded == Tri::kYes ? 0 : one.loaded == Tri::kUnknown ? 1 : 2;
}

void loaded_first(std::vector<FoundModule>& modules) {
  std::ranges::stable_sort(modules, {}, order);
}

Result<void> find_driver(const host::Files& files, const Where& where, const Choices& choices,
                         Survey& survey) {
  std::string given = choices.driver_module;
  if (given.empty() && !choices.driver_source.empty()) {
    const Result<DriverSource> source = read_driver_source(choices.driver_source);
    if (!source) return source.error();
    given = source->module;
  }
  if (!given.empty()) {
    Result<ModuleFile> module = read_given_module(given);
    if (!module) return module.error();
    if (!module->exports.contains(kPagesSymbol)) {
      return Error{EINVAL,
                   fmt::format("{} is not the GPU driver: it exports no {}; give nvidia.ko with "
                               "--driver-module",
                               given, kPagesSymbol)};
    }
    survey.drivers.push_back({{module->path, "given"}, *module, {}, is_loaded(files, *module)});
    return {};
  }
  survey.drivers = read_all(files, driver_files(files, where));
  // Another module whose name begins like the driver's.
  std::erase_if(survey.drivers, [](const FoundModule& one) {
    return one.problem.empty() && !one.module.exports.contains(kPagesSymbol) &&
           one.module.name != "nvidia";
  });
  loaded_first(survey.drivers);
  return {};
}

// The source that is told is the one with the interface, where one has it.
void add_interface(const Exports& exports, const std::string& source, Offered& rdma) {
  const bool first = !rdma.exports.contains(kClientSymbol) && exports.contains(kClientSymbol);
  for (const auto& [name, symbol] : exports) {
    if (is_interface_symbol(name)) rdma.exports.emplace(name, symbol);
  }
  if (rdma.source.empty() || first) rdma.source = source;
}

Result<void> read_given_rdma(const std::string& given, Survey& survey) {
  const std::filesystem::path path = std::filesystem::absolute(given);
  const host::Files here("/");
  std::error_code error;
  const std::string file = std::filesystem::is_directory(path, error)
                               ? (path / "Module.symvers").string()
                               : path.string();
  Exports exports;
  if (!module_stem(file).empty()) {
    Result<ModuleFile> module = read_given_module(file);
    if (!module) return module.error();
    exports = std::move(module->exports);
  } else {
    exports = read_symvers(here, file.substr(1));
  }
  if (exports.empty()) {
    return Error{ENOENT,
                 fmt::format("{} has no Module.symvers with symbols; give --rdma the folder "
                             "in which the RDMA stack was built, such as "
                             "/usr/src/ofa_kernel/default",
                             given)};
  }
  add_interface(exports, file, survey.rdma);
  survey.has_interface = survey.rdma.exports.contains(kClientSymbol) ? Tri::kYes : Tri::kNo;
  return {};
}

// The files of the modules are what runs; symvers files are what somebody has built.
void find_rdma(const host::Files& files, const Where& where, Survey& survey) {
  std::vector<FoundModule> modules = read_all(files, rdma_files(files, where));
  loaded_first(modules);
  std::vector<std::string> seen;
  for (const FoundModule& one : modules) {
    if (!one.problem.empty() || std::ranges::find(seen, one.module.name) != seen.end()) continue;
    seen.push_back(one.module.name);
    add_interface(one.module.exports, "/" + one.place.path, survey.rdma);
  }
  // A kernel may have one of the two, or both, built in.
  if (seen.size() < 2 && !survey.rdma.exports.contains(kClientSymbol)) {
    std::vector<Place> places =
        seen.empty() ? rdma_symvers_files(files, where) : std::vector<Place>();
    std::ranges::copy(kernel_symvers_files(files, where), std::back_inserter(places));
    for (const Place& place : places) {
      const Exports exports = read_symvers(files, place.path);
      if (exports.empty()) continue;
      add_interface(exports, "/" + place.path, survey.rdma);
      if (survey.rdma.exports.contains(kClientSymbol)) break;
    }
  }
  if (!survey.rdma.source.empty()) {
    survey.has_interface = survey.rdma.exports.contains(kClientSymbol) ? Tri::kYes : Tri::kNo;
  } else {
    survey.has_interface = survey.plan.read.interface_seen;
    if (survey.plan.ways.peer_memory == Tri::kNo) survey.has_interface = Tri::kNo;
  }
}

void find_kernel_symbols(const host::Files& files, const Where& where, const Choices& choices,
                         Survey& survey) {
  if (!choices.headers.empty()) {
    const std::string path = std::filesystem::absolute(choices.headers) / "Module.symvers";
    survey.kernel_symbols = {read_symvers(host::Files("/"), path.substr(1)), path};
    return;
  }
  for (const Place& place : kernel_symvers_files(files, where)) {
    survey.kernel_symbols = {read_symvers(files, place.path), "/" + place.path};
    if (!survey.kernel_symbols.exports.empty()) return;
  }
}

}  // namespace

const ModuleFile* Survey::driver() const {
  return drivers.empty() || !drivers.front().problem.empty() ? nullptr : &drivers.front().module;
}

Sides Survey::sides() const {
  return {driver(), rdma.source.empty() ? nullptr : &rdma.exports,
          kernel_symbols.exports.empty() ? nullptr : &kernel_symbols.exports, kernel};
}

Result<Survey> take_survey(const host::Files& files, const host::Inventory& inventory,
                           const Choices& choices) {
  Survey survey;
  survey.kernel = kernel_release(files, choices.kernel);
  if (survey.kernel.empty()) {
    return Error{
        EINVAL,
        choices.kernel.empty()
            ? "the kernel's release is not known; give --kernel, such as 6.8.0-45-generic"
            : "--kernel needs a release such as 6.8.0-45-generic, not '" + choices.kernel + "'"};
  }
  survey.runs = survey.kernel == kernel_release(files, {});
  host::PlanOptions options;
  options.driver_root = choices.driver_root;
  survey.plan = host::plan_peer_memory(files, inventory, options);
  const Where where =
      where_to_look(files, survey.kernel, survey.plan.read.facts.driver_name, choices.driver_root);
  if (Result<void> found = find_driver(files, where, choices, survey); !found) {
    return found.error();
  }
  if (choices.rdma.empty()) {
    find_rdma(files, where, survey);
  } else if (Result<void> read = read_given_rdma(choices.rdma, survey); !read) {
    return read.error();
  }
  find_kernel_symbols(files, where, choices, survey);
  for (FoundModule& found : read_all(files, candidate_files(files, where))) {
    Candidate candidate{std::move(found), {}};
    if (candidate.found.problem.empty()) {
      candidate.refusals = refusals(candidate.found.module, survey.sides());
    }
    survey.candidates.push_back(std::move(candidate));
  }
  return survey;
}

Result<ModuleFile> read_given_module(const std::string& path) {
  const std::string absolute = std::filesystem::absolute(path);
  return read_module(host::Files("/"), absolute.substr(1));
}

}  // namespace gdr::peermem
