# First of all that is installed: which folders were there before, for TelltaleInstall.cmake. Those of an earlier installation count as
# new. No folder of ours is deeper.
install(CODE [[
  get_filename_component(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
  file(GLOB former_folders RELATIVE "${root}" "${root}/*" "${root}/*/*" "${root}/*/*/*" "${root}/*/*/*/*")
  if(EXISTS "${root}/share/telltale/installed-files.txt")
    file(STRINGS "${root}/share/telltale/installed-files.txt" earlier_folders REGEX "/$")
    list(TRANSFORM earlier_folders REPLACE "/$" "")
    list(REMOVE_ITEM former_folders "" ${earlier_folders})
  endif()]] COMPONENT list-of-files)
