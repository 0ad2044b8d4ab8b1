# GDR_GLIBC: the oldest glibc that a build runs on. For the portable build this is the one place that says
# so: the packages' dependencies, --version and the test that reads what each installed file wants have it
# from here. 2.27 is Ubuntu 18.04's; RHEL 8 has 2.28. Other builds run on what the build machine has.
set(GDR_GLIBC 2.27)

# Links everything that is declared from here on to that version, whatever the build machine has.
function(gdr_link_to_old_glibc)
  set(folder ${CMAKE_BINARY_DIR}/glibc)
  set(script ${CMAKE_SOURCE_DIR}/cmake/glibc/Stubs.cmake)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  file(TIMESTAMP ${script} stamp)
  string(PREPEND stamp "${GDR_GLIBC} ")
  if(NOT stamp STREQUAL GDR_GLIBC_STUBS)
    execute_process(
      COMMAND ${CMAKE_COMMAND} -D GLIBC=${GDR_GLIBC} -D FOLDER=${folder} -D COMPILER=${CMAKE_C_COMPILER}
              -D OBJDUMP=${CMAKE_OBJDUMP} -P ${script}
      COMMAND_ERROR_IS_FATAL ANY)
    set(GDR_GLIBC_STUBS "${stamp}" CACHE INTERNAL "What the stubs of the C library were made for")
  endif()
  add_subdirectory(cmake/glibc)
  set_target_properties(gdr_glibc PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${folder})
endfunction()

if(GDR_PORTABLE)
  gdr_link_to_old_glibc()
  link_libraries(gdr_glibc)
  add_link_options(-L${CMAKE_BINARY_DIR}/glibc -Wl,--wrap=__libc_start_main)
else()
  execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE GDR_GLIBC ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^glibc " "" GDR_GLIBC "${GDR_GLIBC}")
endif()
