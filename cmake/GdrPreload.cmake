# gdr_preload(<room> SOURCES <file>... [LINK_OPTIONS <option>...])
#
# libgdr-<room>.so, target gdr_<room>_preload: preloaded by `gdr` into a program, and so into every
# process that the program starts. It needs the C library only, shows no symbol but those of
# libgdr-<room>.map, and no sanitizer, whose runtime could not be preloaded.
function(gdr_preload room)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK_OPTIONS" ${ARGN})
  set(target gdr_${room}_preload)
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/libgdr-${room}.map)
  set(folder lib/gdrkit/${room})
  add_library(${target} SHARED ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${GDR_COMMON} ${GDR_STAND_INS})
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fno-sanitize=all)
  target_link_options(${target} PRIVATE
    -static-libstdc++ -static-libgcc -fno-sanitize=all -Wl,--version-script=${map} -Wl,-Bsymbolic
    -Wl,-z,defs -Wl,-z,now -Wl,--as-needed ${ARG_LINK_OPTIONS})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  # Some files keep their own compiler options, which a file of several would lose.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME gdr-${room}
    UNITY_BUILD OFF
    LINK_DEPENDS ${map}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  install(TARGETS ${target} LIBRARY DESTINATION ${folder})
endfunction()
