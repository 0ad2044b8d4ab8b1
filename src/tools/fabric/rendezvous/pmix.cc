#include "fabric/rendezvous/pmix.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>

#include "fabric/rendezvous/pmix_library.h"

namespace gdr::fabric {
namespace {

constexpr const char* kKey = "gdr.fabric.invitation";
// Between two questions, where the server answers at once that there is nothing yet.
constexpr unsigned kPauseMicroseconds = 50'000;

template <std::size_t size>
void copy_text(char (&to)[size], const std::string& text) {
  std::memset(to, 0, size);
  std::memcpy(to, text.data(), std::min(text.size(), size - 1));
}

pmix::Process process_of(const pmix::Process& self, pmix::Rank rank) {
  pmix::Process process = self;
  process.rank = rank;
  return process;
}

pmix::Info flag(const char* key) {
  pmix::Info info{};
  copy_text(info.key, key);
  info.value.type = pmix::kBool;
  info.value.data.flag = true;
  return info;
}

pmix::Info number(const char* key, int value) {
  pmix::Info info{};
  copy_text(info.key, key);
  info.value.type = pmix::kInt;
  info.value.data.integer = value;
  return info;
}

std::string text_of(const pmix::Value* value) {
  if (value == nullptr || value->type != pmix::kString || value->data.string == nullptr) return {};
  return value->data.string;
}

// The library hands out what malloc() gave it.
void free_value(pmix::Value* value) {
  if (value == nullptr) return;
  if (value->type == pmix::kString) std::free(value->data.string);
  std::free(value);
}

// What the server of this host knows already: nothing is asked of another one.
std::optional<std::uint32_t> known_number(const PmixLibrary& library, const pmix::Process& process,
                                          const char* key) {
  pmix::Value* value = nullptr;
  const pmix::Info only_here = flag(pmix::kOptional);
  if (library.Get(&process, key, &only_here, 1, &value) != pmix::kSuccess) return std::nullopt;
  std::optional<std::uint32_t> known;
  if (value->type == pmix::kUint32) known = value->data.uint32;
  free_value(value);
  return known;
}

std::string known_text(const PmixLibrary& library, const pmix::Process& process, const char* key) {
  pmix::Value* value = nullptr;
  const pmix::Info only_here = flag(pmix::kOptional);
  if (library.Get(&process, key, &only_here, 1, &value) != pmix::kSuccess) return {};
  std::string text = text_of(value);
  free_value(value);
  return text;
}

// Not by PMIX_NODEID: Slurm 22.05 and Open MPI 4.1 tell a process only its own.
std::vector<Expected> expected_ranks(const PmixLibrary& library, const pmix::Process& self,
                                     std::uint32_t ranks) {
  std::vector<Expected> expected;
  std::map<std::string, std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Expected one{rank, rank, known_text(library, process_of(self, rank), pmix::kHostname)};
    if (!one.host.empty()) {
      one.node =
          nodes.try_emplace(one.host, static_cast<std::uint32_t>(nodes.size())).first->second;
    }
    expected.push_back(std::move(one));
  }
  return expected;
}

std::string launcher_name(const Environment& environment) {
  // A daemon of mpirun may itself have been started by srun.
  if (environment("OMPI_COMM_WORLD_RANK")) return "mpirun";
  if (environment("SLURM_STEP_ID")) return "srun";
  return "a launcher";
}

struct Answer {
  pmix::Status status = pmix::kError;
  std::string text;
};
using Promise = std::promise<Answer>;

// Called by a thread of the library, perhaps when nobody waits any more: it owns the promise.
void take_answer(pmix::Status status, pmix::Value* value, void* promise) {
  const std::unique_ptr<Promise> owner(static_cast<Promise*>(promise));
  owner->set_value({status, status == pmix::kSuccess ? text_of(value) : std::string()});
}

class PmixRendezvous : public Rendezvous {
 public:
  PmixRendezvous(Job job, const PmixLibrary& library, const pmix::Process& self)
      : Rendezvous(std::move(job)), pmix_(library), self_(self) {}
  ~PmixRendezvous() override { leave(); }

  Result<Invitation> publish(const Invitation& invitation) override {
    std::string text = to_text(invitation);
    pmix::Value value{};
    value.type = pmix::kString;
    value.data.string = text.data();  // it is copied
    pmix::Status status = pmix_.Put(pmix::kGlobal, kKey, &value);
    if (status == pmix::kSuccess) status = pmix_.Commit();
    if (status == pmix::kSuccess) return invitation;
    return Error{EIO, fmt::format("PMIx does not publish where rank 0 listens: {}",
                                  pmix_.Error_string(status))};
  }

  Result<Invitation> await(Nanoseconds timeout) override {
    const Nanoseconds deadline = now() + timeout;
    for (;;) {
      const Answer answer = ask(deadline);
      if (answer.status == pmix::kSuccess) return invitation_from(answer.text);
      if (now() >= deadline) {
        return Error{
            ETIMEDOUT,
            fmt::format("rank 0{} did not say where it listens (PMIx: {}); it may not have "
                        "started",
                        on_host(), pmix_.Error_string(answer.status))};
      }
      usleep(kPauseMicroseconds);
    }
  }

  void finish() override { leave(); }

 private:
  std::string on_host() const {
    const std::vector<Expected>& expected = job().expected;
    return expected.empty() || expected[0].host.empty() ? "" : " on " + expected[0].host;
  }

  // Slurm's server pays no heed to PMIX_TIMEOUT: PMIx_Get() would wait for a rank that never starts
  // for as long as the job lasts.
  Answer ask(Nanoseconds deadline) {
    const Nanoseconds left = deadline - std::min(deadline, now());
    const pmix::Info limit = number(pmix::kTimeout, static_cast<int>(left / kSecond) + 1);
    const pmix::Process zero = process_of(self_, 0);
    auto promise = std::make_unique<Promise>();
    std::future<Answer> future = promise->get_future();
    const pmix::Status status = pmix_.Get_nb(&zero, kKey, &limit, 1, take_answer, promise.get());
    if (status != pmix::kSuccess) return {status, {}};
    (void)promise.release();  // take_answer()'s from here on
    if (future.wait_for(std::chrono::nanoseconds(left)) != std::future_status::ready) {
      return {pmix::kErrTimeout, {}};
    }
    return future.get();
  }

  void leave() {
    if (has_left_) return;
    has_left_ = true;
    pmix_.Finalize(nullptr, 0);
  }

  const PmixLibrary& pmix_;
  pmix::Process self_;
  bool has_left_ = false;
};

}  // namespace

bool has_pmix(const Environment& environment) {
  return environment("PMIX_NAMESPACE") && environment("PMIX_RANK");
}

Result<std::unique_ptr<Rendezvous>> join_pmix(const Environment& environment) {
  const Result<const PmixLibrary*> loaded = PmixLibrary::load();
  if (!loaded) return loaded.error();
  const PmixLibrary& library = **loaded;
  pmix::Process self{};
  const pmix::Status status = library.Init(&self, nullptr, 0);
  if (status != pmix::kSuccess) {
    return Error{EIO, fmt::format("the launcher's PMIx server does not answer (PMIx {}: {}); the "
                                  "launcher may have another version of PMIx",
                                  library.version(), library.Error_string(status))};
  }
  Job job;
  job.rank = self.rank;
  job.ranks = known_number(library, process_of(self, pmix::kRankWildcard), pmix::kJobSize)
                  .value_or(self.rank + 1);
  job.launcher = fmt::format("{}, PMIx {}", launcher_name(environment), library.version());
  job.expected = expected_ranks(library, self, job.ranks);
  job.job_id = environment("SLURM_JOB_ID").value_or("");
  return std::unique_ptr<Rendezvous>(
      std::make_unique<PmixRendezvous>(std::move(job), library, self));
}

}  // namespace gdr::fabric
