# Installs the files for containers and clusters (docs/clusters.md) into share/gdrkit/clusters. Scripts
# find gdr by their own place. Files that must name a full path name that of the packages, /usr;
# installed with another prefix, they name that one.
set(clusters ${CMAKE_SOURCE_DIR}/packaging)
set(folder share/gdrkit/clusters)
foreach(room monitoring slurm)
  install(DIRECTORY ${clusters}/${room} DESTINATION ${folder} USE_SOURCE_PERMISSIONS)
endforeach()
# In the image gdrkit is always below /usr.
foreach(room container kubernetes)
  install(DIRECTORY ${clusters}/${room} DESTINATION ${folder})
endforeach()
foreach(file systemd/gdr-doctor.service systemd/gdr-doctor.timer systemd/gdr-prove.service
             node-problem-detector/gdr-monitor.json)
  list(APPEND with_paths ${clusters}/${file})
endforeach()
install(CODE "
  set(files \"${with_paths}\")
  set(scratch \"${CMAKE_BINARY_DIR}/clusters\")
  set(folder \"${folder}\")
  include(\"${CMAKE_SOURCE_DIR}/cmake/InstallWithPrefix.cmake\")")
