set(CPACK_RPM_PACKAGE_RELEASE 1)
if(NOT CPACK_RPM_COMPRESSION_TYPE)
  set(CPACK_RPM_COMPRESSION_TYPE xz)
endif()
set(CPACK_RPM_PACKAGE_ARCHITECTURE x86_64)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 AND MIT AND BSD-3-Clause AND ISC")
set(CPACK_RPM_GDRKIT_PACKAGE_SUMMARY "${summary}")
set(CPACK_RPM_STANDINS_PACKAGE_SUMMARY "${summary_standins}")

# The stand-ins' libibverbs.so.1 must never satisfy, or ask for, what a package manager takes for the
# system's. No links by build number in /usr/lib/.build-id: they would be files outside of our folders.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __provides_exclude_from ^/usr/lib/gdrkit/.*$
%global __requires_exclude_from ^/usr/lib/gdrkit/.*$
%define _build_id_links none")

set(CPACK_RPM_GDRKIT_PACKAGE_NAME gdrkit)
set(CPACK_RPM_GDRKIT_FILE_NAME gdrkit-${version}-1.x86_64.rpm)
# Each library is loaded when it is there. CPack 3.25 has no way to recommend on this rpm's version, but
# puts these lines into the spec file as they are.
set(CPACK_RPM_GDRKIT_PACKAGE_REQUIRES "glibc >= ${CPACK_GDR_GLIBC}
Recommends: libibverbs.so.1()(64bit), librdmacm.so.1()(64bit)
Recommends: hwdata, libarchive.so.13()(64bit)
Suggests: gdrkit-standins = ${version}-1, libpmix.so.2()(64bit)")

set(CPACK_RPM_STANDINS_PACKAGE_NAME gdrkit-standins)
set(CPACK_RPM_STANDINS_FILE_NAME gdrkit-standins-${version}-1.x86_64.rpm)
set(CPACK_RPM_STANDINS_PACKAGE_REQUIRES "gdrkit = ${version}-1, glibc >= ${CPACK_GDR_GLIBC}")

# Folders of the system, which no package owns alone.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr /usr/bin /usr/lib /usr/share /usr/share/doc
    /usr/share/man /usr/share/man/man1 /usr/share/man/man5 /usr/share/man/man7 /usr/share/man/man8
    /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh
    /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d)
