/* What pyverbs allocates dma-bufs with, for builds of it that have a stub there, as Debian's, which
 * was built without DRM's headers: preloaded, these functions take the stub's place. They ask a
 * render node as pyverbs' own do: its name, a buffer, a descriptor of it, where to map it. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FIRST_NODE 128

struct version {
  int numbers[3];
  size_t name_room;
  char* name;
  size_t date_room;
  char* date;
  size_t description_room;
  char* description;
};
struct creation {
  uint64_t size;
  uint32_t handle, unused;
};
struct export_request {
  uint32_t handle, flags;
  int32_t descriptor;
};
struct place {
  uint32_t handle, unused;
  uint64_t offset;
};
struct closing {
  uint32_t handle, unused;
};
#define ASK_VERSION _IOWR('d', 0x00, struct version)
#define CLOSE_BUFFER _IOW('d', 0x09, struct closing)
#define EXPORT_BUFFER _IOWR('d', 0x2d, struct export_request)
#define I915_CREATE_BUFFER _IOWR('d', 0x5b, struct creation)
#define I915_PLACE_BUFFER _IOWR('d', 0x64, struct place)

struct dmabuf {
  int node, descriptor;
  uint32_t handle;
  uint64_t offset;
};

static int is_i915(int node) {
  char name[16] = "";
  struct version version;
  memset(&version, 0, sizeof version);
  version.name = name;
  version.name_room = sizeof name - 1;
  if (ioctl(node, ASK_VERSION, &version) != 0) return 0;
  if (strcmp(name, "i915") == 0) return 1;
  errno = EOPNOTSUPP;
  return 0;
}

static int allocate(struct dmabuf* buffer, uint64_t size) {
  struct creation creation = {size, 0, 0};
  if (ioctl(buffer->node, I915_CREATE_BUFFER, &creation) != 0) return 0;
  buffer->handle = creation.handle;
  struct export_request export_request = {creation.handle, O_RDWR, -1};
  struct place place = {creation.handle, 0, 0};
  if (ioctl(buffer->node, EXPORT_BUFFER, &export_request) != 0) return 0;
  buffer->descriptor = export_request.descriptor;
  if (ioctl(buffer->node, I915_PLACE_BUFFER, &place) != 0) return 0;
  buffer->offset = place.offset;
  return 1;
}

void dmabuf_free(struct dmabuf* buffer) {
  const int error = errno;
  if (buffer == NULL) return;
  if (buffer->descriptor >= 0) close(buffer->descriptor);
  if (buffer->handle != 0) {
    struct closing closing = {buffer->handle, 0};
    ioctl(buffer->node, CLOSE_BUFFER, &closing);
  }
  if (buffer->node >= 0) close(buffer->node);
  free(buffer);
  errno = error;
}

/* gtt: memory of the host, which i915's buffers are anyway. */
struct dmabuf* dmabuf_alloc(uint64_t size, int gpu, int gtt) {
  (void)gtt;
  char path[64];
  snprintf(path, sizeof path, "/dev/dri/renderD%d", FIRST_NODE + gpu);
  struct dmabuf* buffer = malloc(sizeof *buffer);
  if (buffer == NULL) return NULL;
  buffer->descriptor = -1;
  buffer->handle = 0;
  buffer->node = open(path, O_RDWR);
  if (buffer->node >= 0 && is_i915(buffer->node) && allocate(buffer, size)) return buffer;
  dmabuf_free(buffer);
  return NULL;
}

int dmabuf_get_drm_fd(struct dmabuf* buffer) { return buffer != NULL ? buffer->node : -1; }

int dmabuf_get_fd(struct dmabuf* buffer) { return buffer != NULL ? buffer->descriptor : -1; }

uint64_t dmabuf_get_offset(struct dmabuf* buffer) {
  return buffer != NULL ? buffer->offset : UINT64_MAX;
}
