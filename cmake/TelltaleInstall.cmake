include(GNUInstallDirs)
install(TARGETS telltale RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
include(CMakePackageConfigHelpers)
install(TARGETS telltale_shared EXPORT telltale
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/telltale DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(telltale_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/telltale)
install(EXPORT telltale NAMESPACE telltale:: DESTINATION ${telltale_config_dir} FILE telltaleConfig.cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/telltaleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/telltaleConfigVersion.cmake DESTINATION ${telltale_config_dir})
