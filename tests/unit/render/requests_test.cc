#include "render/requests.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "render/drm_interface.h"

#if __has_include(<libdrm/i915_drm.h>)
#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>
#define GDR_HAS_LIBDRM 1
#endif

namespace gdr::render {
namespace {

// As programs make them.
template <typename Layout>
constexpr unsigned long request_of(unsigned number) {
  return _IOC(_IOC_READ | _IOC_WRITE, kDrmType, number, sizeof(Layout));
}

class RequestsTest : public testing::Test {
 protected:
  RequestsTest() : node_(nodes_->open({0, 1 << 20}, 128, O_RDWR | O_CLOEXEC)) {}

  template <typename Layout>
  int ask(unsigned number, Layout& argument) {
    const auto answer = answer_request(*nodes_, node_.get(), request_of<Layout>(number), &argument);
    EXPECT_TRUE(answer);
    return answer.value_or(1);
  }
  int error_of(unsigned number) {
    std::uint64_t words[8] = {};
    return ask(number, words);
  }
  std::uint32_t create(std::uint64_t bytes) {
    CreateBuffer buffer{bytes, 0, 0};
    EXPECT_EQ(ask(kCreateBuffer, buffer), 0);
    return buffer.handle;
  }

  std::unique_ptr<Nodes> nodes_ = std::make_unique<Nodes>();
  UniqueFd node_;
};

TEST_F(RequestsTest, TellsTheNameOfTheInterfaceAndThatItIsASoftwareGpu) {
  char name[16] = {}, date[16] = {}, description[64] = {};
  Version version{0, 0, 0, sizeof name, name, sizeof date, date, sizeof description, description};
  ASSERT_EQ(ask(kVersion, version), 0);
  EXPECT_STREQ(name, "i915");
  EXPECT_STREQ(description, "gdrkit software GPU");
  EXPECT_EQ(version.name_length, 4u);
  EXPECT_EQ(version.description_length, std::strlen(description));
}

TEST_F(RequestsTest, TellsAsMuchOfAnameAsThereIsRoomForAndItsLength) {
  char name[4] = {'.', '.', '.', '.'};
  Version version{0, 0, 0, 2, name, 0, nullptr, 100, nullptr};
  ASSERT_EQ(ask(kVersion, version), 0);
  EXPECT_EQ(std::string(name, 4), "i9..");
  EXPECT_EQ(version.name_length, 4u);
  EXPECT_EQ(version.description_length, std::strlen(kDriverDescription));
}

TEST_F(RequestsTest, SaysThatItSharesBuffersAndShowsNoPictures) {
  Capability prime{kCapabilityPrime, 0}, dumb{1, 0}, sync{kCapabilitySyncObject, 7};
  EXPECT_EQ(ask(kCapability, prime), 0);
  EXPECT_EQ(prime.value, 3u);
  EXPECT_EQ(ask(kCapability, dumb), -EOPNOTSUPP);
  EXPECT_EQ(ask(kCapability, sync), 0);
  EXPECT_EQ(sync.value, 0u);
}

TEST_F(RequestsTest, LeadFromASizeToADmaBufAndToAMapping) {
  const std::uint32_t handle = create(10000);
  PrimeHandle prime{handle, O_RDWR | O_CLOEXEC, -1};
  ASSERT_EQ(ask(kHandleToDescriptor, prime), 0);
  const UniqueFd exported(prime.descriptor);
  EXPECT_EQ(lseek(exported.get(), 0, SEEK_END), 12288);
  MapOffset map{handle, 0, 0, 0, 0};
  ASSERT_EQ(ask(kMapOffset, map), 0);
  EXPECT_TRUE(UniqueFd(nodes_->open_mapped(node_.get(), map.offset, 12288, true)));
  PrimeHandle imported{0, 0, exported.get()};
  EXPECT_EQ(ask(kDescriptorToHandle, imported), 0);
  EXPECT_EQ(imported.handle, handle);
  CloseBuffer close{handle, 0};
  EXPECT_EQ(ask(kCloseBuffer, close), 0);
  EXPECT_EQ(ask(kCloseBuffer, close), -EINVAL);
}

TEST_F(RequestsTest, AnswerTheFirstFormOfTheMappingRequestAndWriteNothingBehindIt) {
  struct {
    MapOffset map;
  } first{{create(1), 0, 0, 77, 99}};
  const unsigned long request =
      _IOC(_IOC_READ | _IOC_WRITE, kDrmType, kMapOffset, kFirstMapOffsetBytes);
  EXPECT_EQ(answer_request(*nodes_, node_.get(), request, &first.map), 0);
  EXPECT_GE(first.map.offset, std::uint64_t{1} << 32);
  EXPECT_EQ(first.map.flags, 77u);
  EXPECT_EQ(first.map.extensions, 99u);
}

TEST_F(RequestsTest, RefuseWhatTheyDoNotKnowWithTheKernelsErrors) {
  MapOffset kind{create(1), 0, 0, kMostMapKind + 1, 0}, extended{1, 0, 0, 0, 8},
      none{9, 0, 0, 0, 0};
  EXPECT_EQ(ask(kMapOffset, kind), -EINVAL);
  EXPECT_EQ(ask(kMapOffset, extended), -EINVAL);
  EXPECT_EQ(ask(kMapOffset, none), -ENOENT);
  PrimeHandle flags{1, O_APPEND, -1}, unknown{9, O_RDWR, -1}, closed{0, 0, -1};
  EXPECT_EQ(ask(kHandleToDescriptor, flags), -EINVAL);
  EXPECT_EQ(ask(kHandleToDescriptor, unknown), -ENOENT);
  EXPECT_EQ(ask(kDescriptorToHandle, closed), -EBADF);
  CreateBuffer empty{0, 0, 0}, huge{1 << 21, 0, 0};
  EXPECT_EQ(ask(kCreateBuffer, empty), -EINVAL);
  EXPECT_EQ(ask(kCreateBuffer, huge), -ENOMEM);
  EXPECT_EQ(error_of(kDriverBase + 0x06), -EINVAL);  // a parameter of the driver
  EXPECT_EQ(error_of(0x0a), -EACCES);                // a global name
  EXPECT_EQ(error_of(0xa0), -EACCES);                // the display's resources
  EXPECT_EQ(error_of(0xbf), -EOPNOTSUPP);            // a synchronisation object
  EXPECT_EQ(error_of(0xfe), -EINVAL);
  EXPECT_EQ(answer_request(*nodes_, node_.get(), request_of<Version>(kVersion), nullptr), -EFAULT);
}

TEST_F(RequestsTest, LeaveOtherDescriptorsAndOtherKindsOfRequestsAlone) {
  int bytes = 0;
  EXPECT_EQ(answer_request(*nodes_, node_.get(), 0x541b /* FIONREAD */, &bytes), std::nullopt);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read(ends[0]), written(ends[1]);
  Version version{};
  EXPECT_EQ(answer_request(*nodes_, read.get(), request_of<Version>(kVersion), &version),
            std::nullopt);
}

#ifdef GDR_HAS_LIBDRM
TEST(DrmInterface, IsTheOneThatLibdrmDeclares) {
  EXPECT_EQ(DRM_IOCTL_VERSION, request_of<Version>(kVersion));
  EXPECT_EQ(DRM_IOCTL_GET_CAP, request_of<Capability>(kCapability));
  EXPECT_EQ(_IOC_NR(DRM_IOCTL_GEM_CLOSE), kCloseBuffer);
  EXPECT_EQ(_IOC_SIZE(DRM_IOCTL_GEM_CLOSE), sizeof(CloseBuffer));
  EXPECT_EQ(DRM_IOCTL_PRIME_HANDLE_TO_FD, request_of<PrimeHandle>(kHandleToDescriptor));
  EXPECT_EQ(DRM_IOCTL_PRIME_FD_TO_HANDLE, request_of<PrimeHandle>(kDescriptorToHandle));
  EXPECT_EQ(DRM_IOCTL_I915_GEM_CREATE, request_of<CreateBuffer>(kCreateBuffer));
  EXPECT_EQ(DRM_IOCTL_I915_GEM_MMAP_OFFSET, request_of<MapOffset>(kMapOffset));
  EXPECT_EQ(_IOC_NR(DRM_IOCTL_I915_GEM_MMAP_GTT), kMapOffset);
  EXPECT_EQ(_IOC_SIZE(DRM_IOCTL_I915_GEM_MMAP_GTT), kFirstMapOffsetBytes);
  EXPECT_EQ(offsetof(drm_version, desc), offsetof(Version, description));
  EXPECT_EQ(offsetof(drm_prime_handle, fd), offsetof(PrimeHandle, descriptor));
  EXPECT_EQ(offsetof(drm_i915_gem_create, handle), offsetof(CreateBuffer, handle));
  EXPECT_EQ(offsetof(drm_i915_gem_mmap_offset, flags), offsetof(MapOffset, flags));
  EXPECT_EQ(DRM_CAP_PRIME, kCapabilityPrime);
  EXPECT_EQ(DRM_CAP_TIMESTAMP_MONOTONIC, kCapabilityMonotonic);
  EXPECT_EQ(DRM_CAP_SYNCOBJ, kCapabilitySyncObject);
  EXPECT_EQ(DRM_CAP_SYNCOBJ_TIMELINE, kCapabilityTimeline);
  EXPECT_EQ(DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT, kPrimeImports | kPrimeExports);
  EXPECT_EQ(I915_MMAP_OFFSET_UC, kMostMapKind);
}
#endif

}  // namespace
}  // namespace gdr::render
