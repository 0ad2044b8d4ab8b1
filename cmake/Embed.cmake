# cmake -D INPUT=<file> -D OUTPUT=<file.cc> -D LAYER=<name> -D FUNCTION=<name> -P Embed.cmake
#
# Writes a C++ source whose function gdr::LAYER::FUNCTION() is the bytes of INPUT. It goes inside a
# <script> or <style> of a page, so INPUT may not have what would end or comment out one.
cmake_minimum_required(VERSION 3.25)

file(READ ${INPUT} text)
string(TOLOWER "${text}" text)
foreach(forbidden "</script" "</style" "<!--")
  string(FIND "${text}" "${forbidden}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${INPUT} has '${forbidden}' and cannot stand inside a page")
  endif()
endforeach()
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made from ${INPUT} by Embed.cmake.
#include \"${LAYER}/output/page_parts.h\"
namespace gdr::${LAYER} {
namespace {
constexpr unsigned char kBytes[] = {${bytes}};
}
std::string_view ${FUNCTION}() {
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}
}  // namespace gdr::${LAYER}
")
