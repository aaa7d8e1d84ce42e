# All unit tests, and with TELLTALE_FUZZ all fuzz targets: what `./dev test` builds with sanitizers.
add_custom_target(telltale_unit_tests)
if(TELLTALE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# telltale_unit_tests(TARGET NAME [ALONE]): the target's tests are unit.NAME.SUITE.TEST of ctest, a process each. With sanitizers,
# whose start takes longer than most tests, they are four processes; ALONE: not these, which read settings once in a process.
# The time is generous: a test with sanitizers that takes a minute took more than five on a machine with six times its load.
function(telltale_unit_tests target name)
  add_dependencies(telltale_unit_tests ${target})
  if(NOT TELLTALE_SANITIZE OR "ALONE" IN_LIST ARGN)
    gtest_discover_tests(${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_TIMEOUT 60
                         TEST_PREFIX unit.${name}. PROPERTIES TIMEOUT 1200 LABELS unit)
    return()
  endif()
  foreach(shard RANGE 3)
    add_test(NAME unit.${name}.${shard} COMMAND ${target} --gtest_brief WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(unit.${name}.${shard} PROPERTIES TIMEOUT 1800 LABELS unit
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
