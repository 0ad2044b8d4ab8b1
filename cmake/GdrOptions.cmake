# Options and flags that hold for every target.
option(GDR_BUILD_TESTS "Build the tests" ON)
option(GDR_BUILD_BENCH "Build the benchmarks" OFF)
option(GDR_FAULT_HOOKS "Compile the places where tests break the data path and end processes" OFF)
option(GDR_PORTABLE "Need the C library alone, also an old one; see the target portable-tree" OFF)
option(GDR_LIGHT_TOOLS "Build the tools in two thirds of the time, hardly optimized, but for what is measured" OFF)
set(GDR_SANITIZE "" CACHE STRING "Sanitizers: empty, 'address,undefined' or 'thread'")

set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)  # where CMAKE_UNITY_BUILD is on
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# A test runs once and waits most of its time: half the time to build it is worth more than its speed.
# So is the tools' while they are tested (GDR_LIGHT_TOOLS), but for those whose time tests bound. What is
# measured and has races, the stand-ins and what they share with the tools, is tested optimized.
set(GDR_LIGHTLY $<$<CONFIG:RelWithDebInfo>:-Og>)

# -Wrestrict misfires on std::string in GCC 12 (GCC bug 105651).
add_compile_options(-Wall -Wextra -Werror -Wshadow -Wundef
                    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>"
                    "$<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual;-Wnon-virtual-dtor>")
# GCC collects garbage from 128 MiB of heap on, which every file here passes. From 512 MiB on, it needs 0.93
# to 0.96 of the time. clang-tidy, which reads the debug configuration, does not know the parameter.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")
endif()
if(GDR_SANITIZE)
  if(GDR_SANITIZE STREQUAL "thread")
    add_compile_options(-Wno-tsan)  # GCC warns of every fence: it does not follow them
  endif()
  add_compile_options(-fsanitize=${GDR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Events of newer librdmacm have numbers that the enumeration in the installed header lacks.
  if(GDR_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=enum)
  endif()
  add_link_options(-fsanitize=${GDR_SANITIZE})
endif()
if(GDR_PORTABLE)
  # fmt as headers: the distribution's libfmt.so would bring the shared C++ library back in.
  add_compile_definitions(FMT_HEADER_ONLY=1)
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed)
endif()
