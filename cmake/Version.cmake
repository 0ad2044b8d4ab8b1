# cmake -D SOURCE=<folder> -D NUMBER=<project's version> -D CODE=<file.cc> -D PACKAGE=<file.cmake>
#       -P Version.cmake
#
# Writes what is built from SOURCE, where it differs from what the files say already: CODE for
# src/tools/version, PACKAGE for the packages. The number is that of the last tag vX.Y.Z, or else NUMBER.
# The date is that of the commit, or SOURCE_DATE_EPOCH, so that the same sources give the same program.
cmake_minimum_required(VERSION 3.25)

# Empty where git is missing, SOURCE is no checkout, or git refuses it (it belongs to somebody else).
function(git result)
  set(output)
  if(GIT AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE output
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

find_program(GIT git)
git(commit describe --always --dirty --abbrev=7 --exclude *)
git(tag describe --tags --long --abbrev=7 --match "v[0-9]*.[0-9]*.[0-9]*")

set(since 0)
if(tag MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+)-([0-9]+)-g")
  set(NUMBER ${CMAKE_MATCH_1})
  set(since ${CMAKE_MATCH_2})
endif()

# Build metadata of Semantic Versioning; a package manager takes them, too. A release has none.
set(version ${NUMBER})
if(since GREATER 0)
  string(APPEND version "+${since}.g${commit}")
elseif(commit AND (NOT tag OR commit MATCHES "-dirty$"))
  string(APPEND version "+g${commit}")
endif()
string(REPLACE "-" "." version "${version}")

if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  git(seconds log -1 --format=%ct)
  if(seconds)
    set(ENV{SOURCE_DATE_EPOCH} ${seconds})
  endif()
endif()
set(date)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP date "%Y-%m-%d" UTC)
  string(TIMESTAMP time "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
if(NOT commit)
  set(commit unknown)
endif()

file(CONFIGURE OUTPUT ${CODE} CONTENT [[// Written by cmake/Version.cmake.
#include "version/built.h"

namespace gdr {

const Built kBuilt = {"@version@", "@NUMBER@", "@commit@", "@date@"};

}  // namespace gdr
]] @ONLY)

# Where there is no tag, a package has the project's number alone: what counts up is a release.
set(package ${NUMBER})
if(tag)
  set(package ${version})
endif()
file(CONFIGURE OUTPUT ${PACKAGE} CONTENT "set(GDR_PACKAGE_VERSION \"${package}\")
set(GDR_PACKAGE_DATE \"${time}\")
")
