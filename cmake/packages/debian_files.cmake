# What a Debian package has and others have not: /usr/share/doc/PACKAGE/copyright and changelog.gz, and
# manual pages compressed. The copyright file stands for the texts of licences, which Debian has in
# /usr/share/common-licenses.
set(date "${CPACK_GDR_DATE}")
if(NOT date)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()

foreach(package "gdrkit;gdrkit" "standins;gdrkit-standins")
  list(POP_FRONT package component name)
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/doc)
  set(folder ${root}/${name})
  file(MAKE_DIRECTORY ${folder})
  file(COPY ${CPACK_GDR_PACKAGES}/copyright DESTINATION ${folder})
  file(WRITE ${folder}/changelog "${name} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Built from gdrkit ${CPACK_PACKAGE_VERSION}; its CHANGELOG.md says what has changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  execute_process(COMMAND gzip -9n ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${folder}/changelog.gz PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(REMOVE_RECURSE ${folder}/LICENSE ${folder}/licences)

  file(GLOB pages ${root}/../man/man*/*)
  list(FILTER pages EXCLUDE REGEX "\\.gz$")
  foreach(page IN LISTS pages)
    if(IS_SYMLINK ${page})
      file(READ_SYMLINK ${page} target)
      file(REMOVE ${page})
      file(CREATE_LINK ${target}.gz ${page}.gz SYMBOLIC)
    else()
      execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
endforeach()
