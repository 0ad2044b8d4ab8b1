# The houses: the stand-ins, which are loaded into other people's programs, and the tools, which see
# the public interfaces only. What lies in src/common both may use.
set(GDR_COMMON ${CMAKE_SOURCE_DIR}/src/common)
set(GDR_STAND_INS ${CMAKE_SOURCE_DIR}/src/stand_ins)
set(GDR_TOOLS ${CMAKE_SOURCE_DIR}/src/tools)
set(GDR_HOUSES ${GDR_COMMON} ${GDR_STAND_INS} ${GDR_TOOLS})

# gdr_layer(<name> SOURCES <file>... [DEPENDS <layer>...] [OPTIMIZED] [PART])
#
# A layer is the static library gdr_<name> built from src/<house>/<name>. DEPENDS are its arrows: the
# only other layers (and, through them, what those depend on) whose headers it may include. The
# compiler finds the headers of its own house and the common ones. OPTIMIZED: it reads long logs, or
# computes, so GDR_LIGHT_TOOLS leaves it out. PART: of the layer in whose folder it is, which has the
# arrows.
function(gdr_layer name)
  cmake_parse_arguments(ARG "OPTIMIZED;PART" "" "SOURCES;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND gdr_ OUTPUT_VARIABLE libraries)
  if(ARG_SOURCES)
    add_library(gdr_${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(gdr_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH house)
  target_include_directories(gdr_${name} ${scope} ${GDR_COMMON} ${house})
  target_link_libraries(gdr_${name} ${scope} ${libraries})
  if(ARG_SOURCES AND GDR_LIGHT_TOOLS AND house STREQUAL GDR_TOOLS AND NOT ARG_OPTIMIZED)
    target_compile_options(gdr_${name} PRIVATE ${GDR_LIGHTLY})
    gdr_build_quickly(gdr_${name} gdr_precompiled_for_tools)
  elseif(ARG_SOURCES)
    gdr_build_quickly(gdr_${name})
  endif()
  if(NOT ARG_PART)
    gdr_declare_arrows(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# gdr_optimization(<target> <variable>): the options that replace the build type's optimization.
function(gdr_optimization target variable)
  get_target_property(options ${target} COMPILE_OPTIONS)
  list(FILTER options INCLUDE REGEX "-O")
  set(${variable} "${options}" PARENT_SCOPE)
endfunction()

# gdr_precompile(<target> <target whose precompiled headers it uses, too>)
function(gdr_precompile target from)
  # GCC compiles with the optimization that it reads from precompiled headers, and says nothing of what
  # the command line asks for.
  gdr_optimization(${target} asked)
  gdr_optimization(${from} read)
  if(NOT asked STREQUAL read AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    message(FATAL_ERROR
      "${target} asks for '${asked}', and its precompiled headers have '${read}': ${from}")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
  # These misfire on std::string where its header is precompiled (GCC bug 105651 once more). The
  # builds with the address sanitizer and for debugging have none and warn of everything.
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
  endif()
endfunction()

# gdr_build_quickly(<target> [<target whose precompiled headers it uses, too>]): more than half of the
# compiler's time goes into headers. So the standard library's are read once, and, where
# CMAKE_UNITY_BUILD is on, several files of a target are compiled at once.
function(gdr_build_quickly target)
  set(from ${ARGN} gdr_precompiled)
  list(GET from 0 from)
  gdr_precompile(${target} ${from})
  # A local name may be another file's, too.
  get_target_property(unity ${target} UNITY_BUILD)
  if(unity)
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()

# gdr_compile_alone(<file>...): their own names (of constants, of functions) are others' of the layer,
# too, so they are compiled one by one.
function(gdr_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# gdr_compile_apart(<target> <file>...): as before, but these share no name among themselves, so they are
# compiled as one.
function(gdr_compile_apart target)
  if(NOT $CACHE{CMAKE_UNITY_BUILD})
    return()
  endif()
  get_target_property(number ${target} GDR_APART)
  if(NOT number)
    set(number 0)
  endif()
  math(EXPR next "${number} + 1")
  set_target_properties(${target} PROPERTIES GDR_APART ${next})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_apart_${number}.cc)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"" OUTPUT_VARIABLE lines)
  list(JOIN lines "\n" lines)
  file(CONFIGURE OUTPUT ${source} CONTENT "${lines}\n" @ONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
  set_source_files_properties(${source} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -Wno-shadow)
  set(GDR_APART_SOURCE ${source} PARENT_SCOPE)
endfunction()

# gdr_compile_measured(<target> <file>...): as before, for what takes part in what is measured or looks
# at every byte: optimized, also where GDR_LIGHT_TOOLS has the rest of its layer built lightly.
function(gdr_compile_measured target)
  gdr_compile_apart(${target} ${ARGN})
  if(GDR_LIGHT_TOOLS AND $CACHE{CMAKE_UNITY_BUILD})
    # Precompiled headers would bring their own optimization along.
    set_source_files_properties(${GDR_APART_SOURCE} PROPERTIES
      COMPILE_OPTIONS "$<$<CONFIG:RelWithDebInfo>:-O3>;-Wno-shadow" SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# gdr_embed(<layer> <function of the layer's output/page_parts.h> <file> <list>): adds to the list a
# source whose function is the bytes of the file, which is part of a page.
function(gdr_embed layer name file list)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${file} -D OUTPUT=${source} -D LAYER=${layer}
            -D FUNCTION=${name} -P ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
  set(${list} ${${list}} ${source} PARENT_SCOPE)
endfunction()

# gdr_embed_folder(<folder> <header> <namespace::function> <list>): adds to the list a source whose
# function, which the header declares, gives the text files CHAPTER/NAME.txt of a folder.
function(gdr_embed_folder folder header function list)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*/*.txt)
  string(REGEX REPLACE ".*::" "" name ${function})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${name}.txt)
  file(WRITE ${list_file} "${files}")
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -D LIST=${list_file} -D OUTPUT=${source}
            -D HEADER=${header} -D FUNCTION=${function} -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFolder.cmake
    DEPENDS ${list_file} ${CMAKE_SOURCE_DIR}/cmake/EmbedFolder.cmake VERBATIM)
  list(TRANSFORM files PREPEND ${folder}/)
  add_custom_command(OUTPUT ${source} DEPENDS ${files} APPEND)
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${list} ${${list}} ${source} PARENT_SCOPE)
endfunction()

# For a layer whose product is not a static library (a shared object, the program).
function(gdr_declare_arrows name)
  string(REPLACE ";" " " arrows "${ARGN}")
  set_property(GLOBAL APPEND PROPERTY GDR_ARROWS "${name}: ${arrows}")
endfunction()

# Writes the arrows down and checks every #include of src/ against them at each build.
function(gdr_check_layers)
  get_property(arrows GLOBAL PROPERTY GDR_ARROWS)
  list(JOIN arrows "\n" text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/layers.txt CONTENT "${text}\n")
  if(EXISTS ${CMAKE_SOURCE_DIR}/cmake/CheckLayers.cmake)
    add_custom_target(check_layers ALL
      COMMAND ${CMAKE_COMMAND} -D ARROWS=${CMAKE_BINARY_DIR}/layers.txt -D SRC=${CMAKE_SOURCE_DIR}/src
              -P ${CMAKE_SOURCE_DIR}/cmake/CheckLayers.cmake
      VERBATIM)
  endif()
endfunction()
