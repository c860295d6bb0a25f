# Installs the headers, the package for find_package(redco CONFIG), redco.pc, and the compiled
# libraries if they have been built (target redco_compiled). Projects with the same compiler and
# libtorch link these libraries; other projects compile them anew.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(redco_package "${CMAKE_INSTALL_LIBDIR}/cmake/redco")
install(TARGETS redco redco_headers redco_plan redco_plan_headers EXPORT redco-targets
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
set(redco_libraries "${CMAKE_INSTALL_LIBDIR}/redco")
redco_compiled_for(redco_made_for)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/redco_compiled.txt" CONTENT "${redco_made_for}" @ONLY)
install(CODE "
  if(EXISTS \"${PROJECT_BINARY_DIR}/libredco_compiled.a\" AND EXISTS \"${PROJECT_BINARY_DIR}/libredco_plan_compiled.a\")
    file(INSTALL \"${PROJECT_BINARY_DIR}/libredco_compiled.a\" \"${PROJECT_BINARY_DIR}/libredco_plan_compiled.a\"
      \"${PROJECT_BINARY_DIR}/redco_compiled.txt\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${redco_libraries}\")
  endif()")
install(EXPORT redco-targets NAMESPACE redco:: DESTINATION "${redco_package}")
configure_package_config_file(cmake/redco-config.cmake.in "${PROJECT_BINARY_DIR}/redco-config.cmake"
  INSTALL_DESTINATION "${redco_package}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR redco_libraries)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/redco-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/redco-config.cmake" "${PROJECT_BINARY_DIR}/redco-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoDependencies.cmake" "${PROJECT_SOURCE_DIR}/cmake/RedcoTorch.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoShardReport.cmake" "${PROJECT_SOURCE_DIR}/cmake/shard_report.cpp.in"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoModel.cmake" "${PROJECT_SOURCE_DIR}/cmake/model_header.cpp"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoCompiled.cmake" "${PROJECT_SOURCE_DIR}/cmake/Rooms.cmake"
  DESTINATION "${redco_package}")

file(RELATIVE_PATH redco_prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" redco_prefix_from_pc "${redco_prefix_from_pc}")
set(redco_optional_cflags "")
set(redco_optional_libs "")
foreach(optional PCRE2 SENTENCEPIECE MPI)
  if(REDCO_${optional}_INCLUDE AND REDCO_${optional}_LIBRARY)
    string(APPEND redco_optional_cflags " -DREDCO_WITH_${optional} -I${REDCO_${optional}_INCLUDE}")
    string(APPEND redco_optional_libs " ${REDCO_${optional}_LIBRARY}")
  endif()
endforeach()
if(REDCO_MINJA_INCLUDE)
  install(FILES "${REDCO_MINJA_INCLUDE}/minja/minja.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/minja")
  string(APPEND redco_optional_cflags " -DREDCO_WITH_MINJA")
endif()
configure_file(cmake/redco.pc.in "${PROJECT_BINARY_DIR}/redco.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/redco.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
