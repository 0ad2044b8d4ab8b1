#include "explain/word_set.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace gdr::explain {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Whether a number that begins at `at` is said to be that of an error: "errno 14", "error=14",
// "ret = -14", "[14]", "(14)", " -14".
bool stands_for_error(std::string_view line, std::size_t at, int number) {
  constexpr std::size_t kMostBetween = 5;
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMostBetween &&
         std::string_view(" =:#-[(<").find(line[begin - 1]) != kNone) {
    --begin;
  }
  if (begin == at) return false;
  const char before = line[at - 1];
  if (before == '[' || before == '(') return true;
  // Too many programs return -1 or 1 for anything.
  if (number == 1) return line.substr(0, begin).ends_with("errno");
  // A minus that is no hyphen: "RC: -22", but not "ConnectX-5".
  if (before == '-' && (begin < at - 1 || begin == 0)) return true;
  const std::string_view text = line.substr(0, begin);
  constexpr std::array<std::string_view, 9> kIntroductions = {
      "errno", "error", "err", "ret", "rc", "code", "status", "errnum", "returned"};
  return std::any_of(kIntroductions.begin(), kIntroductions.end(),
                     [&](std::string_view word) { return text.ends_with(word); });
}

std::size_t past_number(std::string_view line, std::size_t at, int number) {
  if (at >= line.size() || !is_digit(line[at])) return kNone;
  if (at > 0 && (is_digit(line[at - 1]) || is_letter(line[at - 1]) || line[at - 1] == '.')) {
    return kNone;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), value);
  if (error != std::errc() || value != number) return kNone;
  const auto stop = static_cast<std::size_t>(end - line.data());
  if (stop < line.size() && (is_letter(line[stop]) || line[stop] == '_')) return kNone;
  return stands_for_error(line, at, number) ? stop : kNone;
}

// Numbers and messages as in Linux and glibc.
const std::vector<WordSet>& all() {
  constexpr auto kAnywhere = WordSet::Begin::kAnywhere;
  constexpr auto kWord = WordSet::Begin::kWord;
  static const std::vector<WordSet> sets = {
      {"EPERM", 1, kWord, {"operation not permitted", "eperm"}},
      {"EAGAIN", 11, kWord, {"resource temporarily unavailable", "eagain"}},
      {"ENOMEM", 12, kWord, {"cannot allocate memory", "enomem", "out of memory"}},
      {"EACCES", 13, kWord, {"permission denied", "eacces"}},
      {"EFAULT", 14, kWord, {"bad address", "efault"}},
      {"ENODEV", 19, kWord, {"no such device", "enodev"}},
      {"EINVAL", 22, kWord, {"invalid argument", "einval", "invalid parameter"}},
      {"ERANGE", 34, kWord, {"numerical result out of range", "erange"}},
      {"ENOSPC", 28, kWord, {"no space left on device", "enospc"}},
      {"EPROTO", 71, kWord, {"protocol error", "eproto)"}},
      {"EPROTONOSUPPORT", 93, kWord, {"protocol not supported", "eprotonosupport"}},
      {"EOPNOTSUPP", 95, kWord, {"operation not supported", "eopnotsupp", "opnotsupported"}},
      {"ENOTSUPP", 524, kWord, {"unknown error 524", "enotsupp"}},
      {"fails",
       0,
       kAnywhere,
       {"fail", "couldn't", "couldnt", "could not", "cannot", "can't", "unable", "error",
        "returned null", "returns null", "returns 'null", "returned 'null", "returned -", "<warn>",
        "null value"}},
      // Memory is registered with a NIC.
      {"register",
       0,
       kWord,
       {"reg_mr",
        "reg_dmabuf_mr",
        "fi_mr_reg",
        "mr_reg_impl",
        "umem_reg",
        "mr_umem_get",
        "umem get",
        "register memory",
        "register the memory",
        "register local memory",
        "register remote memory",
        "register mr",
        "register gpu",
        "register cuda",
        "register rdma",
        "register buffer",
        "register the buffer",
        "register region",
        "register address",
        "register user buffer",
        "register memory region",
        "buffer registration",
        "cuda registration",
        "gpu registration",
        "vram registration",
        "check failed: mr",
        "registering memory",
        "registermem",
        "register_memory",
        "registerlocalmemory",
        "registerrdmamemoryregion",
        "memory registration",
        "memory region registration",
        "mr registration",
        "allocate mr",
        "create mr",
        "map mr",
        "enable mr",
        "register flush buffer",
        "register efa msg buffer",
        "register the flush",
        "register kv",
        "memreg",
        "cxip_do_map",
        "cxil_map"}},
      // The module that lets RDMA drivers reach an NVIDIA GPU, by all its names.
      {"peermem",
       0,
       kWord,
       {"nvidia-peermem", "nvidia_peermem", "nv_peer_mem", "nv-peer-mem", "nvidia_peer_memory",
        "nvidia-peer-memory", "nvidia_peer_mem", "nv_peermem", "nvidia-current-peermem",
        "nvidia-current-open-peermem", "nvidia peermem"}},
      // An RDMA resource of a NIC other than memory.
      {"queue",
       0,
       kWord,
       {"ibv_create_qp",
        "ibv_create_cq",
        "ibv_create_srq",
        "ibv_exp_create_qp",
        "ibv_exp_create_cq",
        "create_qp",
        "create_cq",
        "create qp",
        "create cq",
        "create a qp",
        "create queue pair",
        "create completion queue",
        "create a completion queue",
        "create a receiver cq",
        "create receive cq",
        "create send cq",
        "create qps",
        "create cqs",
        "creating queue pair",
        "create extended cq",
        "ibv_alloc_pd",
        "alloc_pd",
        "alloc_parent_domain",
        "ibv_alloc_td",
        "create tm control qp",
        "ofi cq creation",
        "allocate pd",
        "allocate protection domain",
        "create rdma new qp",
        "create rdma old qp",
        "create_qp_ex",
        "create srq",
        "qp creation",
        "open cq",
        "devx_obj_create",
        "ibv_create_comp_channel"}},
      // A queue pair is connected.
      {"connect-qp",
       0,
       kWord,
       {"modify_qp", "modify qp", "modify the qp", "modify queue pair", "modifying qp",
        "modify to rtr", "modify to rts", "modify to init", "create_ah", "create ah", "qp to rtr",
        "qp to rts", "transition qp", "to rtr state", "change qp"}},
      // A NIC is opened.
      {"open-nic",
       0,
       kWord,
       {"ibv_open_device", "open rdma device", "open ib device", "open the rdma device",
        "open infiniband device", "open the ib device", "opening ib device", "open device mlx",
        "open device bnxt", "open device roce", "open device ib", "open device rdma",
        "open device irdma", "open device rxe", "open device erdma", "open_device failed",
        "open device [", "get context for the device"}},
  };
  return sets;
}

}  // namespace

std::size_t WordSet::past(std::string_view line, std::size_t at) const {
  std::size_t end = number_ == 0 ? kNone : past_number(line, at, number_);
  if (begin_ == Begin::kWord && at > 0 && is_letter(line[at - 1])) return end;
  for (const std::string& word : words_) {
    if (line.substr(at, word.size()) != word) continue;
    if (end == kNone || end < at + word.size()) end = at + word.size();
  }
  return end;
}

const WordSet* find_word_set(std::string_view name) {
  for (const WordSet& set : all()) {
    if (name == set.name()) return &set;
  }
  return nullptr;
}

}  // namespace gdr::explain
