# cmake -D ARROWS=<file> -D SRC=<folder> -P CheckLayers.cmake
#
# Fails if an #include "layer/..." in SRC, whose layers are SRC/<house>/<layer>, goes against the
# arrows. ARROWS has a line a layer, "name: layer gdr_layer ...", as gdr_declare_arrows() wrote it. A
# layer may include its own headers and those of every layer that its arrows reach. One grep over the
# whole tree, so that this costs nothing at each build.
cmake_minimum_required(VERSION 3.25)

# The wall between the houses: the tools stand above the public interfaces only, which proves that
# the stand-ins drop in; and a stand-in brings nothing of the tools into other people's programs.
set(HOUSES common stand_ins tools)
foreach(house ${HOUSES})
  file(GLOB layers_${house} RELATIVE ${SRC}/${house} ${SRC}/${house}/*)
endforeach()

function(read_arrows)
  file(STRINGS ${ARROWS} lines)
  foreach(line ${lines})
    if(line MATCHES "^([a-z0-9_]+): ?(.*)$")
      set(layer ${CMAKE_MATCH_1})
      string(REGEX REPLACE "gdr_" "" arrows "${CMAKE_MATCH_2}")
      string(REPLACE " " ";" arrows "${arrows}")
      list(APPEND layers ${layer})
      set(arrows_${layer} "${arrows}" PARENT_SCOPE)
    endif()
  endforeach()
  set(LAYERS "${layers}" PARENT_SCOPE)
endfunction()

# All layers that `layer` reaches, itself first.
function(reachable layer result)
  set(seen ${layer})
  set(open ${layer})
  while(open)
    list(POP_FRONT open next)
    foreach(below ${arrows_${next}})
      if(NOT below IN_LIST seen)
        list(APPEND seen ${below})
        list(APPEND open ${below})
      endif()
    endforeach()
  endwhile()
  set(${result} ${seen} PARENT_SCOPE)
endfunction()

function(check_include file number layer included)
  # A folder without arrows is no layer yet; whoever includes from it is found all the same.
  if(NOT layer IN_LIST LAYERS OR included IN_LIST reach_${layer})
    return()
  endif()
  string(REPLACE ";" ", " allowed "${reach_${layer}}")
  # NOTICE: the line stands alone, without CMake's own frame, so that editors find the place.
  message(NOTICE
    "src/${file}:${number}: layer '${layer}' includes from '${included}'; allowed: ${allowed}")
  set(FAILED TRUE PARENT_SCOPE)
endfunction()

read_arrows()
foreach(layer ${LAYERS})
  reachable(${layer} reach_${layer})
  foreach(house ${HOUSES})
    if(layer IN_LIST layers_${house})
      foreach(below ${reach_${layer}})
        if(NOT below IN_LIST layers_${house} AND NOT below IN_LIST layers_common)
          message(NOTICE "layer '${layer}' is of src/${house} and must not reach '${below}': see "
                         "DEPENDS in src/${house}/${layer}/CMakeLists.txt")
          set(FAILED TRUE)
        endif()
      endforeach()
    endif()
  endforeach()
endforeach()

execute_process(
  COMMAND grep -rnoE --include=*.h --include=*.cc --include=*.c --include=*.inc
          "^[ \t]*#[ \t]*include[ \t]*[<\"][a-z0-9_.]+/[^>\"]*" .
  WORKING_DIRECTORY ${SRC} OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(result GREATER 1)
  message(FATAL_ERROR "grep over ${SRC} failed: ${result}")
endif()
string(REPLACE "\n" ";" lines "${output}")
foreach(line ${lines})
  if(line MATCHES "^\\./([a-z_]+/([a-z0-9_]+)/[^:]*):([0-9]+):[^<\"]*([<\"])([a-z0-9_.]+)/(.*)$")
    # <infiniband/verbs.h> and <rdma/ib_user_verbs.h> are the system's; <rnic/path.h> would be ours
    # in disguise.
    set(ours FALSE)
    foreach(house ${HOUSES})
      if(EXISTS ${SRC}/${house}/${CMAKE_MATCH_5}/${CMAKE_MATCH_6})
        set(ours TRUE)
      endif()
    endforeach()
    if(ours OR CMAKE_MATCH_4 STREQUAL "\"")
      check_include(${CMAKE_MATCH_1} ${CMAKE_MATCH_3} ${CMAKE_MATCH_2} ${CMAKE_MATCH_5})
    endif()
  endif()
endforeach()
if(FAILED)
  message(FATAL_ERROR "An #include goes against the arrows between the layers; see ARCHITECTURE.md")
endif()
