// fstat: before glibc 2.33 a program called __fxstat, which newer ones keep.
#include <sys/stat.h>

enum { kVersion = 1 };  // of struct stat, the only one on x86-64

int __fxstat(int version, int descriptor, struct stat* result);
int __fxstat64(int version, int descriptor, struct stat64* result);

int fstat(int descriptor, struct stat* result) { return __fxstat(kVersion, descriptor, result); }

int fstat64(int descriptor, struct stat64* result) {
  return __fxstat64(kVersion, descriptor, result);
}
