# Read by cpack once for each kind of package, so that the version is the last build's.
include(${CPACK_GDR_VERSION_FILE})
set(CPACK_PACKAGE_VERSION ${GDR_PACKAGE_VERSION})
set(CPACK_GDR_DATE "${GDR_PACKAGE_DATE}")
set(version ${GDR_PACKAGE_VERSION})

set(CPACK_COMPONENT_GDRKIT_DESCRIPTION
    "gdr gets GPUDirect RDMA working on a Linux host, proves byte by byte
that it works, measures it, and says why when it does not. It works with
NVIDIA GPUs and the RDMA NICs that libibverbs supports. To try it on a
machine without them, install gdrkit-standins.")
set(CPACK_COMPONENT_STANDINS_DESCRIPTION
    "A software NIC (libibverbs.so.1, librdmacm.so.1) and a software GPU
(libcuda.so.1), which gdr run loads into unmodified programs and gdr
prove uses where there is no hardware. They lie in a folder of their own
that the dynamic loader does not search: nothing uses them unasked.")
set(summary "prove, measure and repair GPUDirect RDMA")
set(summary_standins "software NIC and GPU for programs of RDMA and CUDA")

if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
  set(CPACK_PACKAGE_FILE_NAME gdrkit-${version}-x86_64)
  return()
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(${CMAKE_CURRENT_LIST_DIR}/${CPACK_GENERATOR}.cmake)
