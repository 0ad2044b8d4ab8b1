# cmake -D BUILD=<build folder> -D TREE=<folder> -P PortableTree.cmake
#
# Installs BUILD into TREE. What another distribution has to bring is the C library alone: the stand-ins
# are loaded into other people's programs, so they must bring nothing along, and the program must start
# anywhere.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${TREE})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${TREE} --strip
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

set(c_library "^(ld-linux.*|libc|libm|libdl|libpthread|librt)\\.so\\.[0-9]+$")

file(GLOB_RECURSE files ${TREE}/bin/gdr ${TREE}/lib/gdrkit/*)
foreach(file ${files})
  file(READ ${file} magic LIMIT 4 HEX)
  if(IS_SYMLINK ${file} OR NOT magic STREQUAL "7f454c46")
    continue()
  endif()
  get_filename_component(folder ${file} DIRECTORY)
  execute_process(COMMAND objdump -p ${file} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "NEEDED +[^\n]+" needed "${headers}")
  foreach(entry ${needed})
    string(REGEX REPLACE "NEEDED +" "" name ${entry})
    if(NOT name MATCHES ${c_library} AND NOT EXISTS ${folder}/${name})
      message(FATAL_ERROR "${file} needs ${name}; it may need the C library only, and what lies "
                          "beside it")
    endif()
  endforeach()
endforeach()
message(STATUS "Portable tree: ${TREE}")
