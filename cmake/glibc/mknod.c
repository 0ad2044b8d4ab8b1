// mknod: before glibc 2.33 a program called __xmknod, which newer ones keep.
#include <sys/stat.h>

enum { kVersion = 0 };  // of the device number

int __xmknod(int version, const char* path, mode_t mode, dev_t* device);

int mknod(const char* path, mode_t mode, dev_t device) {
  return __xmknod(kVersion, path, mode, &device);
}
