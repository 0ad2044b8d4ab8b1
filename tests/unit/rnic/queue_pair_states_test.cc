// The table of ibv_modify_qp(3) and of the Linux kernel's ib_modify_qp_is_ok, written down again
// here: what each transition requires and allows, and that nothing else is taken.
#include "rnic/queue_pair_states.h"

#include "adapter_fixture.h"

namespace gdr::rnic {
namespace {

struct Row {
  ibv_qp_type type;
  ibv_qp_state from, to;
  int required, optional;
};

constexpr int kPkey = IBV_QP_PKEY_INDEX, kPort = IBV_QP_PORT, kQkey = IBV_QP_QKEY,
              kAccess = IBV_QP_ACCESS_FLAGS, kAv = IBV_QP_AV, kMtu = IBV_QP_PATH_MTU,
              kDestination = IBV_QP_DEST_QPN, kRqPsn = IBV_QP_RQ_PSN, kSqPsn = IBV_QP_SQ_PSN,
              kIncoming = IBV_QP_MAX_DEST_RD_ATOMIC, kRnrTimer = IBV_QP_MIN_RNR_TIMER,
              kAlternate = IBV_QP_ALT_PATH, kTimeout = IBV_QP_TIMEOUT, kRetry = IBV_QP_RETRY_CNT,
              kRnrRetry = IBV_QP_RNR_RETRY, kOutgoing = IBV_QP_MAX_QP_RD_ATOMIC,
              kCurrent = IBV_QP_CUR_STATE, kMigration = IBV_QP_PATH_MIG_STATE,
              kRate = IBV_QP_RATE_LIMIT;
constexpr auto kRc = IBV_QPT_RC, kUc = IBV_QPT_UC, kUd = IBV_QPT_UD, kRaw = IBV_QPT_RAW_PACKET;
constexpr auto kReset = IBV_QPS_RESET, kInit = IBV_QPS_INIT, kRtr = IBV_QPS_RTR, kRts = IBV_QPS_RTS,
               kSqe = IBV_QPS_SQE, kErr = IBV_QPS_ERR;

const Row kTable[] = {
    {kRc, kReset, kInit, kPkey | kPort | kAccess, 0},
    {kUc, kReset, kInit, kPkey | kPort | kAccess, 0},
    {kUd, kReset, kInit, kPkey | kPort | kQkey, 0},
    {kRaw, kReset, kInit, kPort, 0},
    {kRc, kInit, kInit, 0, kPkey | kPort | kAccess},
    {kUc, kInit, kInit, 0, kPkey | kPort | kAccess},
    {kUd, kInit, kInit, 0, kPkey | kPort | kQkey},
    {kRaw, kInit, kInit, 0, kPort},
    {kRc, kInit, kRtr, kAv | kMtu | kDestination | kRqPsn | kIncoming | kRnrTimer,
     kAlternate | kAccess | kPkey},
    {kUc, kInit, kRtr, kAv | kMtu | kDestination | kRqPsn, kAlternate | kAccess | kPkey},
    {kUd, kInit, kRtr, 0, kPkey | kQkey},
    {kRaw, kInit, kRtr, 0, 0},
    {kRc, kRtr, kRts, kTimeout | kRetry | kRnrRetry | kSqPsn | kOutgoing,
     kCurrent | kAlternate | kAccess | kRnrTimer | kMigration},
    {kUc, kRtr, kRts, kSqPsn, kCurrent | kAlternate | kAccess | kMigration},
    {kUd, kRtr, kRts, kSqPsn, kCurrent | kQkey},
    {kRaw, kRtr, kRts, 0, kRate},
    {kRc, kRts, kRts, 0, kCurrent | kAccess | kAlternate | kMigration | kRnrTimer},
    {kUc, kRts, kRts, 0, kCurrent | kAccess | kAlternate | kMigration},
    {kUd, kRts, kRts, 0, kCurrent | kQkey},
    {kRaw, kRts, kRts, 0, kRate},
    {kUc, kSqe, kRts, 0, kCurrent | kAccess},
    {kUd, kSqe, kRts, 0, kCurrent | kQkey},
    {kRaw, kSqe, kRts, 0, 0},
};
constexpr int kEvery = (kRate << 1) - 1;

const Row* row_of(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to) {
  for (const Row& row : kTable) {
    if (row.type == type && row.from == from && row.to == to) return &row;
  }
  return nullptr;
}

TEST(QueuePairStates, TakesWhatATransitionRequiresAndAllows) {
  for (const Row& row : kTable) {
    const int base = IBV_QP_STATE | row.required;
    EXPECT_EQ(check_transition(row.type, row.from, row.to, base), 0) << row.from << "->" << row.to;
    EXPECT_EQ(check_transition(row.type, row.from, row.to, base | row.optional), 0)
        << "type " << row.type << " " << row.from << "->" << row.to;
  }
}

TEST(QueuePairStates, RefusesEachAttributeThatIsMissingOrNotAllowed) {
  for (const Row& row : kTable) {
    for (int bit = 1; bit <= kRate; bit <<= 1) {
      if (bit == IBV_QP_STATE) continue;
      const int base = IBV_QP_STATE | row.required;
      if (row.required & bit) {
        EXPECT_EQ(check_transition(row.type, row.from, row.to, base & ~bit), EINVAL)
            << "type " << row.type << " " << row.from << "->" << row.to << " without " << bit;
      } else if (!(row.optional & bit)) {
        EXPECT_EQ(check_transition(row.type, row.from, row.to, base | bit), EINVAL)
            << "type " << row.type << " " << row.from << "->" << row.to << " with " << bit;
      }
    }
  }
}

TEST(QueuePairStates, AllowsResetAndErrorFromEverywhereAndNothingBesidesTheTable) {
  for (const ibv_qp_type type : {kRc, kUc, kUd, kRaw}) {
    for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; ++from) {
      for (int to = IBV_QPS_RESET; to <= IBV_QPS_UNKNOWN; ++to) {
        const auto begin = static_cast<ibv_qp_state>(from), end = static_cast<ibv_qp_state>(to);
        const Row* row = row_of(type, begin, end);
        const bool always = end == kReset || end == kErr;
        const int mask = IBV_QP_STATE | (row != nullptr ? row->required : 0);
        EXPECT_EQ(check_transition(type, begin, end, mask), row != nullptr || always ? 0 : EINVAL)
            << "type " << type << " " << from << "->" << to;
        if (row == nullptr && !always) {
          EXPECT_EQ(check_transition(type, begin, end, kEvery), EINVAL);
        }
      }
    }
    EXPECT_EQ(check_transition(type, kRts, kErr, IBV_QP_STATE | kPort), EINVAL);
    EXPECT_EQ(check_transition(type, kRts, kReset, IBV_QP_STATE | kQkey), EINVAL);
  }
}

TEST(QueuePairStates, RefusesValuesThatTheDeviceDoesNotHave) {
  const auto refused = [](int mask, auto change) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.path_mtu = IBV_MTU_1024;
    EXPECT_EQ(check_values(attr, mask, 4), 0);
    change(attr);
    return check_values(attr, mask, 4) == EINVAL && check_values(attr, 0, 4) == 0;
  };
  EXPECT_TRUE(refused(kPort, [](ibv_qp_attr& a) { a.port_num = 2; }));
  EXPECT_TRUE(refused(kPort, [](ibv_qp_attr& a) { a.port_num = 0; }));
  EXPECT_TRUE(refused(kPkey, [](ibv_qp_attr& a) { a.pkey_index = 1; }));
  EXPECT_TRUE(refused(kMtu, [](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(0); }));
  EXPECT_TRUE(refused(kMtu, [](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(6); }));
  EXPECT_TRUE(refused(kDestination, [](ibv_qp_attr& a) { a.dest_qp_num = 1u << 24; }));
  EXPECT_TRUE(refused(kIncoming, [](ibv_qp_attr& a) { a.max_dest_rd_atomic = 129; }));
  EXPECT_TRUE(refused(kOutgoing, [](ibv_qp_attr& a) { a.max_rd_atomic = 129; }));
  EXPECT_TRUE(refused(kRnrTimer, [](ibv_qp_attr& a) { a.min_rnr_timer = 32; }));
  EXPECT_TRUE(refused(kTimeout, [](ibv_qp_attr& a) { a.timeout = 32; }));
  EXPECT_TRUE(refused(kRetry, [](ibv_qp_attr& a) { a.retry_cnt = 8; }));
  EXPECT_TRUE(refused(kRnrRetry, [](ibv_qp_attr& a) { a.rnr_retry = 8; }));
  EXPECT_TRUE(refused(kAv, [](ibv_qp_attr& a) { a.ah_attr.port_num = 2; }));
  EXPECT_TRUE(refused(kAv, [](ibv_qp_attr& a) {
    a.ah_attr.is_global = 1;
    a.ah_attr.grh.sgid_index = 4;
  }));
  ibv_qp_attr last{};
  last.ah_attr.is_global = 1;
  last.ah_attr.grh.sgid_index = 3;
  EXPECT_EQ(check_values(last, kAv, 4), 0);
}

using QueuePairStatesTest = AdapterTest;

TEST_F(QueuePairStatesTest, ARefusedChangeChangesNothing) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_INIT);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.dest_qp_num = 99;
  EXPECT_EQ(qp->modify(attr, IBV_QP_STATE | IBV_QP_DEST_QPN), EINVAL);
  ibv_qp_init_attr init{};
  qp->query(&attr, &init);
  EXPECT_EQ(attr.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(attr.dest_qp_num, 0u);
}

TEST_F(QueuePairStatesTest, ACurrentStateThatIsNotCurrentIsRefused) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.cur_qp_state = IBV_QPS_SQE;
  EXPECT_EQ(qp->modify(attr, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL);
  attr.cur_qp_state = IBV_QPS_RTS;
  EXPECT_EQ(qp->modify(attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
}

TEST_F(QueuePairStatesTest, ResetForgetsEveryAttribute) {
  auto qp = queue_pair(IBV_QPT_RC);
  bring_to(*qp, IBV_QPS_RTS);
  ASSERT_EQ(move_to(*qp, IBV_QPS_RESET), 0);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  qp->query(&attr, &init);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RESET);
  EXPECT_EQ(attr.dest_qp_num, 0u);
  bring_to(*qp, IBV_QPS_RTS);  // and can be connected again
}

}  // namespace
}  // namespace gdr::rnic
