# Part of --install: puts each of ${files} into ${folder}/<name of its folder>, with the prefix /usr in it
# replaced by the one that is installed to. CPack installs into a folder of its own first; its packages
# are for /usr.
set(prefix ${CMAKE_INSTALL_PREFIX})
if(prefix MATCHES "/_CPack_Packages/")
  set(prefix /usr)
endif()
foreach(file ${files})
  cmake_path(GET file FILENAME name)
  cmake_path(GET file PARENT_PATH room)
  cmake_path(GET room FILENAME room)
  file(READ ${file} text)
  string(REPLACE "/usr/share/gdrkit" "${prefix}/share/gdrkit" text "${text}")
  string(REPLACE "/usr/bin/gdr" "${prefix}/bin/gdr" text "${text}")
  file(WRITE ${scratch}/${room}/${name} "${text}")
  file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/${folder}/${room} TYPE FILE
       FILES ${scratch}/${room}/${name})
endforeach()
