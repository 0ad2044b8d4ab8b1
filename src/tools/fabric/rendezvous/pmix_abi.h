// What is used of PMIx, as its standard lays it out (version 2 to 5; pmix_abi_test.cc compares it
// with the headers), so that building needs none of its packages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::fabric::pmix {

using Status = int;
using Rank = std::uint32_t;

constexpr Status kSuccess = 0, kError = -1, kErrTimeout = -24;
constexpr Rank kRankWildcard = UINT32_MAX - 1;
constexpr std::uint8_t kGlobal = 3;  // of scopes
constexpr std::uint16_t kBool = 1, kString = 3, kInt = 6, kUint32 = 14;
constexpr const char *kHostname = "pmix.hname", *kJobSize = "pmix.job.size",
                     *kOptional = "pmix.optional", *kTimeout = "pmix.timeout";

struct Process {
  char name_space[256];
  Rank rank;
};

struct Value {
  std::uint16_t type;
  union {
    bool flag;
    char* string;
    int integer;
    std::uint32_t uint32;
    void* largest[3];
  } data;
};

struct Info {
  char key[512];
  std::uint32_t flags;
  Value value;
};

using Answered = void (*)(Status status, Value* value, void* data);

}  // namespace gdr::fabric::pmix
