set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(NOT CPACK_DEBIAN_COMPRESSION_TYPE)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own, the first line below

set(CPACK_COMPONENT_GDRKIT_DESCRIPTION "${summary}\n${CPACK_COMPONENT_GDRKIT_DESCRIPTION}")
set(CPACK_DEBIAN_GDRKIT_PACKAGE_NAME gdrkit)
set(CPACK_DEBIAN_GDRKIT_FILE_NAME gdrkit_${version}_amd64.deb)
set(CPACK_DEBIAN_GDRKIT_PACKAGE_DEPENDS "libc6 (>= ${CPACK_GDR_GLIBC})")
# A build for one distribution uses that one's C++ library, too.
if(NOT CPACK_GDR_PORTABLE)
  set(CPACK_DEBIAN_GDRKIT_PACKAGE_SHLIBDEPS ON)
endif()
# Each is loaded when it is there: verbs of real NICs, names of PCI devices, captures that are packed.
set(CPACK_DEBIAN_GDRKIT_PACKAGE_RECOMMENDS
    "libibverbs1, ibverbs-providers, librdmacm1, pci.ids, libarchive13")
set(CPACK_DEBIAN_GDRKIT_PACKAGE_SUGGESTS "gdrkit-standins (= ${version}), libpmix2")
# dpkg does not ask whether what is installed still likes an upgrade, but whether the upgrade breaks it.
set(CPACK_DEBIAN_GDRKIT_PACKAGE_BREAKS
    "gdrkit-standins (<< ${version}), gdrkit-standins (>> ${version})")

set(CPACK_COMPONENT_STANDINS_DESCRIPTION "${summary_standins}\n${CPACK_COMPONENT_STANDINS_DESCRIPTION}")
set(CPACK_DEBIAN_STANDINS_PACKAGE_NAME gdrkit-standins)
set(CPACK_DEBIAN_STANDINS_FILE_NAME gdrkit-standins_${version}_amd64.deb)
set(CPACK_DEBIAN_STANDINS_PACKAGE_DEPENDS "gdrkit (= ${version}), libc6 (>= ${CPACK_GDR_GLIBC})")

set(CPACK_PRE_BUILD_SCRIPTS ${CPACK_GDR_PACKAGES}/debian_files.cmake)
