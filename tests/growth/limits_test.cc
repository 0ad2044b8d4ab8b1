// The NIC's limits: as many objects as it says that it has, then ENOMEM, and room again once one is
// gone.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <vector>

namespace gdr {
namespace {

template <typename Object>
using Owned = std::unique_ptr<Object, int (*)(Object*)>;

class DeviceLimits : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    ASSERT_GT(count, 0);
    context_.reset(ibv_open_device(list[0]));
    ibv_free_device_list(list);
    ASSERT_NE(context_, nullptr);
    ASSERT_EQ(ibv_query_device(context_.get(), &attributes_), 0);
    domain_.reset(ibv_alloc_pd(context_.get()));
    ASSERT_NE(domain_, nullptr);
  }

  Owned<ibv_cq> completion_queue() {
    return {ibv_create_cq(context_.get(), 1, nullptr, nullptr, 0), ibv_destroy_cq};
  }

  // Makes as many as the device says, then one more, then one in the place of another.
  template <typename Object>
  void fill(int most, const std::function<Owned<Object>()>& make) {
    std::vector<Owned<Object>> all;
    for (int i = 0; i < most; ++i) {
      errno = 0;
      all.push_back(make());
      ASSERT_NE(all.back(), nullptr) << "of " << most << " only " << i << ", errno " << errno;
    }
    // The device may have a few more than it promises.
    constexpr int kSpare = 8;
    for (int i = 0; i < kSpare && all.back() != nullptr; ++i) {
      errno = 0;
      all.push_back(make());
    }
    ASSERT_EQ(all.back(), nullptr) << "more than " << most + kSpare;
    EXPECT_EQ(errno, ENOMEM);
    all.front().reset();
    all.back() = make();
    EXPECT_NE(all.back(), nullptr) << "errno " << errno;
  }

  Owned<ibv_context> context_{nullptr, ibv_close_device};
  Owned<ibv_pd> domain_{nullptr, ibv_dealloc_pd};
  ibv_device_attr attributes_{};
};

TEST_F(DeviceLimits, RegistrationsBeyondTheLastKeyGiveEnomem) {
  ASSERT_GE(attributes_.max_mr, 100'000);
  char byte = 0;
  fill<ibv_mr>(attributes_.max_mr, [&]() -> Owned<ibv_mr> {
    return {ibv_reg_mr(domain_.get(), &byte, 1, IBV_ACCESS_LOCAL_WRITE), ibv_dereg_mr};
  });
}

TEST_F(DeviceLimits, QueuePairsBeyondTheLastNumberGiveEnomem) {
  const Owned<ibv_cq> completions = completion_queue();
  ASSERT_NE(completions, nullptr);
  fill<ibv_qp>(attributes_.max_qp, [&]() -> Owned<ibv_qp> {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = completions.get();
    init.cap.max_send_wr = init.cap.max_recv_wr = 1;
    init.cap.max_send_sge = init.cap.max_recv_sge = 1;
    init.qp_type = IBV_QPT_RC;
    return {ibv_create_qp(domain_.get(), &init), ibv_destroy_qp};
  });
}

TEST_F(DeviceLimits, CompletionQueuesBeyondTheLastOneGiveEnomem) {
  fill<ibv_cq>(attributes_.max_cq, [&] { return completion_queue(); });
}

}  // namespace
}  // namespace gdr
