# Install and export: the command, and the libraries that a C++ kernel links (find_package(warpcheck), then
# target_link_libraries(my_test warpcheck::cpp)).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS warpcheck_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS warpcheck_flags warpcheck_model warpcheck_explorer warpcheck_cpp
        EXPORT warpcheck_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY model explorer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpcheck
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY frontends/cpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpcheck/frontends
        FILES_MATCHING PATTERN "*.h")

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warpcheck)
install(EXPORT warpcheck_targets NAMESPACE warpcheck:: DESTINATION ${config_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/warpcheckConfig.cmake.in
  ${PROJECT_BINARY_DIR}/warpcheckConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warpcheckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpcheckConfig.cmake ${PROJECT_BINARY_DIR}/warpcheckConfigVersion.cmake
        DESTINATION ${config_dir})
