# Targets about where the files end up: uninstall, and for the preset `portable` portable-tree.
add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -D BUILD=${CMAKE_BINARY_DIR} -P ${CMAKE_SOURCE_DIR}/cmake/Uninstall.cmake
  VERBATIM)
