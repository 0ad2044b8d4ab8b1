// How functions get into the symbol table of libibverbs.so.1. Everything is hidden by default;
// libibverbs.map gives an exported name its version node.
//
//   GDR_EXPORT int ibv_fork_init() { return 0; }                       // the version of the map
//   GDR_EXPORT_AS("ibv_alloc_pd@IBVERBS_1.0") ibv_pd* alloc_pd_1_0();  // an older one beside it
#pragma once

#if !__has_attribute(symver) && !defined(__clang_analyzer__)
#error "the compiler needs __attribute__((symver)): GCC 10 or newer"
#endif

#define GDR_EXPORT extern "C" __attribute__((visibility("default")))
#define GDR_EXPORT_AS(versioned_name) \
  extern "C" __attribute__((visibility("default"), used, symver(versioned_name)))
