// Pure functions of libibverbs, compared for every input with the distribution's own library, which
// is loaded beside the stand-in in a namespace of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

#include <cstring>
#include <vector>

extern "C" {
void ibv_copy_ah_attr_from_kern(ibv_ah_attr*, ib_uverbs_ah_attr*);
void ibv_copy_qp_attr_from_kern(ibv_qp_attr*, ib_uverbs_qp_attr*);
void ibv_copy_path_rec_from_kern(ibv_sa_path_rec*, ib_user_path_rec*);
void ibv_copy_path_rec_to_kern(ib_user_path_rec*, ibv_sa_path_rec*);
}

namespace gdr::test {
namespace {

class Reference : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers do not follow a library into a second namespace";
#endif
    if (library_ == nullptr) library_ = dlmopen(LM_ID_NEWLM, GDR_REFERENCE_LIBRARY, RTLD_NOW);
    if (library_ == nullptr) GTEST_SKIP() << "no reference libibverbs: " << dlerror();
  }

  template <typename Function>
  static Function* find(Function* /*ours*/, const char* name) {
    auto* found = reinterpret_cast<Function*>(dlsym(library_, name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }

  static inline void* library_ = nullptr;
};

#define REFERENCE(name) find(&name, #name)

template <typename Enum, typename Ours, typename Theirs>
void expect_same_strings(Ours* ours, Theirs* theirs) {
  for (int value = -2; value < 40; ++value) {
    EXPECT_STREQ(ours(static_cast<Enum>(value)), theirs(static_cast<Enum>(value))) << value;
  }
}

TEST_F(Reference, NamesEnumeratorsAlike) {
  expect_same_strings<ibv_wc_status>(&ibv_wc_status_str, REFERENCE(ibv_wc_status_str));
  expect_same_strings<ibv_event_type>(&ibv_event_type_str, REFERENCE(ibv_event_type_str));
  expect_same_strings<ibv_port_state>(&ibv_port_state_str, REFERENCE(ibv_port_state_str));
}

// From 1 on: the table of the reference has a hole at 0, which it answers with a null pointer.
TEST_F(Reference, NamesNodeTypesAlike) {
  auto* theirs = REFERENCE(ibv_node_type_str);
  for (int value = 1; value < 20; ++value) {
    EXPECT_STREQ(ibv_node_type_str(static_cast<ibv_node_type>(value)),
                 theirs(static_cast<ibv_node_type>(value)));
  }
}

TEST_F(Reference, ConvertsRatesAlike) {
  auto* to_mult = REFERENCE(ibv_rate_to_mult);
  auto* to_mbps = REFERENCE(ibv_rate_to_mbps);
  for (int value = -1; value < 40; ++value) {
    const auto rate = static_cast<ibv_rate>(value);
    EXPECT_EQ(ibv_rate_to_mult(rate), to_mult(rate)) << value;
    EXPECT_EQ(ibv_rate_to_mbps(rate), to_mbps(rate)) << value;
  }
  auto* from_mult = REFERENCE(mult_to_ibv_rate);
  for (int mult = -1; mult < 1000; ++mult) EXPECT_EQ(mult_to_ibv_rate(mult), from_mult(mult));
  auto* from_mbps = REFERENCE(mbps_to_ibv_rate);
  for (int value = 0; value < 40; ++value) {
    const int mbps = ibv_rate_to_mbps(static_cast<ibv_rate>(value));
    EXPECT_EQ(mbps_to_ibv_rate(mbps), from_mbps(mbps)) << mbps;
  }
}

// Every byte of the source is different, so that a swapped or forgotten member shows.
template <typename To, typename From>
void expect_same_copy(void (*ours)(To*, From*), void (*theirs)(To*, From*)) {
  std::vector<unsigned char> source(sizeof(From));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i + 1);
  std::vector<unsigned char> our_copy(sizeof(To), 0xee), their_copy(sizeof(To), 0xee);
  ours(reinterpret_cast<To*>(our_copy.data()), reinterpret_cast<From*>(source.data()));
  theirs(reinterpret_cast<To*>(their_copy.data()), reinterpret_cast<From*>(source.data()));
  EXPECT_EQ(our_copy, their_copy);
}

TEST_F(Reference, CopiesTheKernelsStructsAlike) {
  expect_same_copy(&ibv_copy_ah_attr_from_kern, REFERENCE(ibv_copy_ah_attr_from_kern));
  expect_same_copy(&ibv_copy_qp_attr_from_kern, REFERENCE(ibv_copy_qp_attr_from_kern));
  expect_same_copy(&ibv_copy_path_rec_from_kern, REFERENCE(ibv_copy_path_rec_from_kern));
  expect_same_copy(&ibv_copy_path_rec_to_kern, REFERENCE(ibv_copy_path_rec_to_kern));
}

}  // namespace
}  // namespace gdr::test
