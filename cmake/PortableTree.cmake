# cmake -D BUILD=<build folder> -D TREE=<folder> -P PortableTree.cmake
#
# Installs BUILD into TREE and puts beside it every shared library it needs that is not the C
# library's. The program and they find them through its RPATH, $ORIGIN/../lib/gdrkit/bundled. What a newer
# distribution has to bring is the C library alone.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${TREE})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${TREE} --strip
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# Part of the C library, so never carried along: it must fit the kernel's and the loader's own.
set(c_library "^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv)\\.so\\.[0-9]+$")

file(GLOB_RECURSE stand_ins ${TREE}/lib/gdrkit/*.so*)
file(GET_RUNTIME_DEPENDENCIES
     EXECUTABLES ${TREE}/bin/gdr
     LIBRARIES ${stand_ins}
     RESOLVED_DEPENDENCIES_VAR libraries
     UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_EXCLUDE_REGEXES ${c_library})
if(missing)
  message(FATAL_ERROR "Libraries not found: ${missing}")
endif()
foreach(library ${libraries})
  # A stand-in that another one needs lies beside it. The program must not find it among its own.
  string(FIND ${library} ${TREE}/ inside)
  if(inside EQUAL 0)
    continue()
  endif()
  file(COPY ${library} DESTINATION ${TREE}/lib/gdrkit/bundled FOLLOW_SYMLINK_CHAIN)
endforeach()

# The stand-ins are loaded into other people's programs, so they must bring nothing along but each
# other, from their own folder.
foreach(stand_in ${stand_ins})
  if(IS_SYMLINK ${stand_in})
    continue()
  endif()
  get_filename_component(folder ${stand_in} DIRECTORY)
  execute_process(COMMAND objdump -p ${stand_in} OUTPUT_VARIABLE headers
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "NEEDED +[^\n]+" needed "${headers}")
  foreach(entry ${needed})
    string(REGEX REPLACE "NEEDED +" "" name ${entry})
    if(NOT name MATCHES ${c_library} AND NOT EXISTS ${folder}/${name})
      message(FATAL_ERROR "${stand_in} needs ${name}; a stand-in may need the C library only, and "
                          "what lies beside it")
    endif()
  endforeach()
endforeach()

# Nothing may be found where this machine happens to have it.
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ldd ${TREE}/bin/gdr
                OUTPUT_VARIABLE resolved COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \t\n]+ => [^ \n]+" lines "${resolved}")
foreach(line ${lines})
  string(REGEX MATCH "^(.+) => (.+)$" whole ${line})
  set(name ${CMAKE_MATCH_1})
  string(FIND ${CMAKE_MATCH_2} ${TREE} inside)
  if(NOT name MATCHES ${c_library} AND NOT inside EQUAL 0)
    message(FATAL_ERROR "bin/gdr finds ${name} outside the tree, at ${CMAKE_MATCH_2}")
  endif()
endforeach()
message(STATUS "Portable tree: ${TREE}")
