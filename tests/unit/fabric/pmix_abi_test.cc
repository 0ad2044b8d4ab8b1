// What gdr fabric declares of PMIx is what its headers say.
#include "fabric/rendezvous/pmix_abi.h"

#include <gtest/gtest.h>
#include <pmix.h>

#include <cstring>

namespace gdr::fabric::pmix {
namespace {

static_assert(kSuccess == PMIX_SUCCESS && kError == PMIX_ERROR && kErrTimeout == PMIX_ERR_TIMEOUT);
static_assert(kRankWildcard == PMIX_RANK_WILDCARD && kGlobal == PMIX_GLOBAL);
static_assert(kBool == PMIX_BOOL && kString == PMIX_STRING && kInt == PMIX_INT &&
              kUint32 == PMIX_UINT32);
static_assert(sizeof(Process) == sizeof(pmix_proc_t) &&
              offsetof(Process, rank) == offsetof(pmix_proc_t, rank));
static_assert(sizeof(Value) >= sizeof(pmix_value_t) &&
              offsetof(Value, data) == offsetof(pmix_value_t, data));
static_assert(offsetof(Info, flags) == offsetof(pmix_info_t, flags) &&
              offsetof(Info, value) == offsetof(pmix_info_t, value));
static_assert(sizeof(Status) == sizeof(pmix_status_t) && sizeof(Rank) == sizeof(pmix_rank_t) &&
              sizeof(kGlobal) == sizeof(pmix_scope_t) && sizeof(kBool) == sizeof(pmix_data_type_t));

TEST(PmixAbi, NamesKeysAsTheHeadersDo) {
  EXPECT_STREQ(kHostname, PMIX_HOSTNAME);
  EXPECT_STREQ(kJobSize, PMIX_JOB_SIZE);
  EXPECT_STREQ(kOptional, PMIX_OPTIONAL);
  EXPECT_STREQ(kTimeout, PMIX_TIMEOUT);
}

}  // namespace
}  // namespace gdr::fabric::pmix
