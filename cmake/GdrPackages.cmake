# Packages for other hosts, made by CPack from an installed tree: gdrkit, and gdrkit-standins for what is
# loaded into other people's programs, so that a production host need not carry a second libibverbs.
#
#   cmake --workflow --preset package      # the portable build, then dist/*.deb, *.rpm, *.tar.gz
#
# The package gdrkit has everything that install() puts down, unless a rule names the component standins.
find_program(GDR_RPMBUILD rpmbuild)
mark_as_advanced(GDR_RPMBUILD)

set(CPACK_GENERATOR TGZ DEB)
if(GDR_RPMBUILD)
  list(APPEND CPACK_GENERATOR RPM)
endif()
set(CPACK_COMPONENTS_ALL gdrkit standins)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME gdrkit)
set(CPACK_PACKAGE_VENDOR gdrkit)
set(CPACK_PACKAGE_CONTACT "gdrkit maintainers <gdrkit@localhost>")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# cmake/packages/each_generator.cmake reads these when cpack runs.
set(CPACK_GDR_VERSION_FILE ${CMAKE_BINARY_DIR}/package_version.cmake)
set(CPACK_GDR_GLIBC ${GDR_GLIBC})
set(CPACK_GDR_PORTABLE ${GDR_PORTABLE})
set(CPACK_GDR_PACKAGES ${CMAKE_SOURCE_DIR}/cmake/packages)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/packages/each_generator.cmake)
include(CPack)
