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

pmix_proc_t process_of(const pmix_proc_t& self, pmix_rank_t rank) {
  pmix_proc_t process = self;
  process.rank = rank;
  return process;
}

pmix_info_t flag(const char* key) {
  pmix_info_t info{};
  copy_text(info.key, key);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  return info;
}

pmix_info_t number(const char* key, int value) {
  pmix_info_t info{};
  copy_text(info.key, key);
  info.value.type = PMIX_INT;
  info.value.data.integer = value;
  return info;
}

std::string text_of(const pmix_value_t* value) {
  if (value == nullptr || value->type != PMIX_STRING || value->data.string == nullptr) return {};
  return value->data.string;
}

// The library hands out what malloc() gave it.
void free_value(pmix_value_t* value) {
  if (value == nullptr) return;
  if (value->type == PMIX_STRING) std::free(value->data.string);
  std::free(value);
}

// What the server of this host knows already: nothing is asked of another one.
std::optional<std::uint32_t> known_number(const PmixLibrary& pmix, const pmix_proc_t& process,
                                          const char* key) {
  pmix_value_t* value = nullptr;
  const pmix_info_t only_here = flag(PMIX_OPTIONAL);
  if (pmix.Get(&process, key, &only_here, 1, &value) != PMIX_SUCCESS) return std::nullopt;
  std::optional<std::uint32_t> known;
  if (value->type == PMIX_UINT32) known = value->data.uint32;
  free_value(value);
  return known;
}

std::string known_text(const PmixLibrary& pmix, const pmix_proc_t& process, const char* key) {
  pmix_value_t* value = nullptr;
  const pmix_info_t only_here = flag(PMIX_OPTIONAL);
  if (pmix.Get(&process, key, &only_here, 1, &value) != PMIX_SUCCESS) return {};
  std::string text = text_of(value);
  free_value(value);
  return text;
}

// Not by PMIX_NODEID: Slurm 22.05 and Open MPI 4.1 tell a process only its own.
std::vector<Expected> expected_ranks(const PmixLibrary& pmix, const pmix_proc_t& self,
                                     std::uint32_t ranks) {
  std::vector<Expected> expected;
  std::map<std::string, std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Expected one{rank, rank, known_text(pmix, process_of(self, rank), PMIX_HOSTNAME)};
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
  pmix_status_t status = PMIX_ERROR;
  std::string text;
};
using Promise = std::promise<Answer>;

// Called by a thread of the library, perhaps when nobody waits any more: it owns the promise.
void take_answer(pmix_status_t status, pmix_value_t* value, void* promise) {
  const std::unique_ptr<Promise> owner(static_cast<Promise*>(promise));
  owner->set_value({status, status == PMIX_SUCCESS ? text_of(value) : std::string()});
}

class PmixRendezvous : public Rendezvous {
 public:
  PmixRendezvous(Job job, const PmixLibrary& pmix, const pmix_proc_t& self)
      : Rendezvous(std::move(job)), pmix_(pmix), self_(self) {}
  ~PmixRendezvous() override { leave(); }

  Result<Invitation> publish(const Invitation& invitation) override {
    std::string text = to_text(invitation);
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = text.data();  // it is copied
    pmix_status_t status = pmix_.Put(PMIX_GLOBAL, kKey, &value);
    if (status == PMIX_SUCCESS) status = pmix_.Commit();
    if (status == PMIX_SUCCESS) return invitation;
    return Error{EIO, fmt::format("PMIx does not publish where rank 0 listens: {}",
                                  pmix_.Error_string(status))};
  }

  Result<Invitation> await(Nanoseconds timeout) override {
    const Nanoseconds deadline = now() + timeout;
    for (;;) {
      const Answer answer = ask(deadline);
      if (answer.status == PMIX_SUCCESS) return invitation_from(answer.text);
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
    const pmix_info_t limit = number(PMIX_TIMEOUT, static_cast<int>(left / kSecond) + 1);
    const pmix_proc_t zero = process_of(self_, 0);
    auto promise = std::make_unique<Promise>();
    std::future<Answer> future = promise->get_future();
    const pmix_status_t status = pmix_.Get_nb(&zero, kKey, &limit, 1, take_answer, promise.get());
    if (status != PMIX_SUCCESS) return {status, {}};
    (void)promise.release();  // take_answer()'s from here on
    if (future.wait_for(std::chrono::nanoseconds(left)) != std::future_status::ready) {
      return {PMIX_ERR_TIMEOUT, {}};
    }
    return future.get();
  }

  void leave() {
    if (has_left_) return;
    has_left_ = true;
    pmix_.Finalize(nullptr, 0);
  }

  const PmixLibrary& pmix_;
  pmix_proc_t self_;
  bool has_left_ = false;
};

}  // namespace

bool has_pmix(const Environment& environment) {
  return environment("PMIX_NAMESPACE") && environment("PMIX_RANK");
}

Result<std::unique_ptr<Rendezvous>> join_pmix(const Environment& environment) {
  const Result<const PmixLibrary*> library = PmixLibrary::load();
  if (!library) return library.error();
  const PmixLibrary& pmix = **library;
  pmix_proc_t self{};
  const pmix_status_t status = pmix.Init(&self, nullptr, 0);
  if (status != PMIX_SUCCESS) {
    return Error{EIO, fmt::format("the launcher's PMIx server does not answer (PMIx {}: {}); the "
                                  "launcher may have another version of PMIx",
                                  pmix.version(), pmix.Error_string(status))};
  }
  Job job;
  job.rank = self.rank;
  job.ranks = known_number(pmix, process_of(self, PMIX_RANK_WILDCARD), PMIX_JOB_SIZE)
                  .value_or(self.rank + 1);
  job.launcher = fmt::format("{}, PMIx {}", launcher_name(environment), pmix.version());
  job.expected = expected_ranks(pmix, self, job.ranks);
  job.job_id = environment("SLURM_JOB_ID").value_or("");
  return std::unique_ptr<Rendezvous>(std::make_unique<PmixRendezvous>(std::move(job), pmix, self));
}

}  // namespace gdr::fabric
