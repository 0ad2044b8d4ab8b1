# cmake -D BUILD=<build folder> -P Uninstall.cmake
#
# Removes the files that `cmake --install` wrote down, and the folders that became empty thereby.
cmake_minimum_required(VERSION 3.25)

set(manifest ${BUILD}/install_manifest.txt)
if(NOT EXISTS ${manifest})
  message(FATAL_ERROR "Nothing to uninstall: there is no ${manifest}; it is written by --install")
endif()
file(STRINGS ${manifest} files)
foreach(file ${files})
  if(EXISTS $ENV{DESTDIR}${file} OR IS_SYMLINK $ENV{DESTDIR}${file})
    file(REMOVE $ENV{DESTDIR}${file})
    message(STATUS "Removed $ENV{DESTDIR}${file}")
  endif()
  cmake_path(GET file PARENT_PATH folder)
  # Only folders of our own name are ours to remove, and those that exist for pages and completions
  # alone.
  while(folder MATCHES "/gdrkit(/|$)|/share/(man/|bash-completion|zsh|fish)")
    file(GLOB rest LIST_DIRECTORIES true $ENV{DESTDIR}${folder}/*)
    if(rest)
      break()
    endif()
    file(REMOVE_RECURSE $ENV{DESTDIR}${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
