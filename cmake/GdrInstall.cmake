# Targets about where the files end up: uninstall, and for the preset `portable` portable-tree.
add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -D BUILD=${CMAKE_BINARY_DIR} -P ${CMAKE_SOURCE_DIR}/cmake/Uninstall.cmake
  VERBATIM)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
              ${CMAKE_SOURCE_DIR}/cmake/packages/copyright
        DESTINATION share/doc/gdrkit)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/knowledge/symptoms DESTINATION share/gdrkit)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION share/doc/gdrkit FILES_MATCHING PATTERN *.md
        PATTERN images EXCLUDE)

if(GDR_PORTABLE)
  set(tree ${CMAKE_SOURCE_DIR}/dist/gdrkit-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
  add_custom_target(portable-tree
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -D BUILD=${CMAKE_BINARY_DIR} -D TREE=${tree}
            -P ${CMAKE_SOURCE_DIR}/cmake/PortableTree.cmake
    VERBATIM)
endif()
