// Importing what this process has already: by command descriptor and handle.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class ImportTest : public VerbsTest {
 protected:
  ibv_context* import_context() { return ibv_import_device(dup(context_->cmd_fd)); }
};

TEST_F(ImportTest, AnImportedRegionAndDomainServeQueuePairsOfTheImportedContext) {
  std::vector<std::uint8_t> from(64, 0xa5), to(64);
  ibv_mr* source = register_bytes(from);
  ibv_mr* target = register_bytes(to);
  ibv_context* context = import_context();
  ASSERT_NE(context, nullptr) << std::strerror(errno);
  EXPECT_STREQ(ibv_get_device_name(context->device), ibv_get_device_name(context_->device));
  ibv_pd* pd = ibv_import_pd(context, pd_->handle);
  ASSERT_NE(pd, nullptr) << std::strerror(errno);
  ibv_mr* imported = ibv_import_mr(pd, source->handle);
  ASSERT_NE(imported, nullptr) << std::strerror(errno);
  EXPECT_EQ(imported->addr, nullptr);
  EXPECT_EQ(imported->lkey, source->lkey);
  EXPECT_EQ(imported->rkey, source->rkey);
  ibv_cq* cq = ibv_create_cq(context, 8, nullptr, nullptr, 0);
  ibv_qp_init_attr init = attributes(IBV_QPT_RC);
  init.send_cq = init.recv_cq = cq;
  ibv_qp* a = ibv_create_qp(pd, &init);
  ASSERT_NE(a, nullptr);
  ibv_qp* b = create_qp(IBV_QPT_RC);
  connect(a, b);
  ibv_sge segment{address_of(from.data()), 64, imported->lkey};
  ibv_send_wr request = write_request(&segment, address_of(to.data()), target->rkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion(cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(from, to);
  ibv_unimport_mr(imported);
  ibv_unimport_pd(pd);  // before what was made in it, as pyverbs does
  EXPECT_EQ(ibv_destroy_qp(a), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
  EXPECT_EQ(ibv_dereg_mr(source), 0);
}

TEST_F(ImportTest, ObjectsLiveUntilTheLastContextIsClosed) {
  std::vector<std::uint8_t> bytes(64);
  ibv_mr* mr = register_bytes(bytes);
  const std::uint32_t pd_handle = pd_->handle, mr_handle = mr->handle;
  ibv_context* context = import_context();
  ASSERT_NE(context, nullptr);
  ASSERT_EQ(ibv_close_device(context_), 0);
  context_ = context;  // closed by the fixture
  ibv_pd* pd = ibv_import_pd(context, pd_handle);
  ASSERT_NE(pd, nullptr);
  ibv_mr* imported = ibv_import_mr(pd, mr_handle);
  ASSERT_NE(imported, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(imported), 0);
  EXPECT_EQ(ibv_import_mr(pd, mr_handle), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(ImportTest, DeviceMemoryIsOneUnderBothNames) {
  ibv_alloc_dm_attr attr{.length = 4096, .log_align_req = 0, .comp_mask = 0};
  ibv_dm* dm = ibv_alloc_dm(context_, &attr);
  ibv_context* context = import_context();
  ibv_dm* imported = ibv_import_dm(context, dm->handle);
  ASSERT_NE(imported, nullptr) << std::strerror(errno);
  std::uint8_t here[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 16, here, 8), 0);
  EXPECT_EQ(ibv_memcpy_from_dm(back, imported, 16, 8), 0);
  EXPECT_EQ(std::memcmp(here, back, 8), 0);
  ibv_unimport_dm(imported);
  EXPECT_EQ(ibv_close_device(context), 0);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(ImportTest, RefusesWhatNamesNothing) {
  EXPECT_EQ(ibv_import_device(-1), nullptr);
  EXPECT_EQ(errno, EBADF);
  const int other = memfd_create("other", MFD_CLOEXEC);
  EXPECT_EQ(ibv_import_device(other), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  close(other);
  EXPECT_EQ(ibv_import_pd(context_, pd_->handle + 1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_import_mr(pd_, 12345), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_import_dm(context_, 12345), nullptr);
  EXPECT_EQ(errno, EINVAL);
  std::vector<std::uint8_t> bytes(64);
  ibv_mr* mr = register_bytes(bytes);
  EXPECT_EQ(ibv_import_mr(ibv_alloc_pd(context_), mr->handle), nullptr);  // another domain's
  EXPECT_EQ(errno, EINVAL);
  ibv_context* context = open_device(0);  // not imported: objects of its own
  EXPECT_EQ(ibv_import_pd(context, pd_->handle), nullptr);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST_F(ImportTest, LeavesNoDescriptorBehind) {
  const auto next_descriptor = [] {
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
  };
  constexpr int kTimes = 400;
  const int before = next_descriptor();
  for (int i = 0; i < kTimes; ++i) {
    ibv_context* context = open_device(0);
    ibv_context* imported = ibv_import_device(dup(context->cmd_fd));
    ASSERT_NE(imported, nullptr);
    ASSERT_EQ(ibv_close_device(context), 0);
    ASSERT_EQ(ibv_close_device(imported), 0);
  }
  // Less than one each time; other processes come and go meanwhile, with a few each.
  EXPECT_LT(next_descriptor(), before + kTimes);
}

}  // namespace
}  // namespace gdr::test
