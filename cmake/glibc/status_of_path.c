// stat, lstat, fstatat: before glibc 2.33 a program called __xstat and its like, which newer ones
// keep. libgdr-presence.so answers both, so they are not system calls here.
#include <sys/stat.h>

enum { kVersion = 1 };  // of struct stat, the only one on x86-64

int __xstat(int version, const char* path, struct stat* result);
int __lxstat(int version, const char* path, struct stat* result);
int __fxstatat(int version, int folder, const char* path, struct stat* result, int flags);

int stat(const char* path, struct stat* result) { return __xstat(kVersion, path, result); }

int lstat(const char* path, struct stat* result) { return __lxstat(kVersion, path, result); }

int fstatat(int folder, const char* path, struct stat* result, int flags) {
  return __fxstatat(kVersion, folder, path, result, flags);
}
