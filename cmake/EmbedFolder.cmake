# cmake -D FOLDER=<folder> -D LIST=<file with the list of files below it> -D OUTPUT=<file.cc>
#       -D HEADER=<header> -D FUNCTION=<namespace::function> -P EmbedFolder.cmake
#
# Writes a C++ source whose function gives the bytes of text files and their names below FOLDER, as
# HEADER declares it: std::span<const EmbeddedFile> with the members `path` and `text`.
cmake_minimum_required(VERSION 3.25)

# No text has this.
set(end "~embedded~")
string(REGEX MATCH "^(.*)::([^:]*)$" matched ${FUNCTION})
set(source "// Made from ${FOLDER} by EmbedFolder.cmake.
#include \"${HEADER}\"
namespace ${CMAKE_MATCH_1} {
namespace {
constexpr EmbeddedFile kFiles[] = {
")
set(function ${CMAKE_MATCH_2})
file(READ ${LIST} files)
foreach(file IN LISTS files)
  file(READ "${FOLDER}/${file}" text)
  string(APPEND source "{\"${file}\", R\"${end}(${text})${end}\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}};
}  // namespace
std::span<const EmbeddedFile> ${function}() { return kFiles; }
}  // namespace ${CMAKE_MATCH_1}
")
