# The program that measures how time and memory grow: built with the benchmarks, and with the tests,
# which hold its curves to a bound (tests/growth).
if(NOT TARGET bench_growth)
  find_package(fmt REQUIRED)
  set(growth ${CMAKE_CURRENT_LIST_DIR})
  add_executable(bench_growth
    ${growth}/child.cc ${growth}/facts.cc ${growth}/link.cc ${growth}/main.cc ${growth}/processes.cc
    ${growth}/queue_pairs.cc ${growth}/registrations.cc ${growth}/side.cc ${growth}/slices.cc
    ${growth}/target.cc ${growth}/../give_up.cc ${growth}/../other_process.cc)
  target_link_libraries(bench_growth PRIVATE gdr_soft_nic gdr_cuda fmt::fmt)
  # The library that was built beside it, not the system's.
  set_target_properties(bench_growth PROPERTIES
    UNITY_BUILD OFF
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    BUILD_RPATH ${CMAKE_BINARY_DIR}/lib/gdrkit/soft-nic)
endif()
