# Compiles the sources of a folder several at a time: most of the time of one source goes into the headers of the standard
# library and of fmt, which are then read once (docs/design/build-and-test.md, "What a build costs"). Off unless a preset
# asks for it. A source that lacks an include compiles in a unit: tools/clang_tidy.py looks at each source alone and finds it.
option(TELLTALE_UNITY "compile several sources of a folder as one" OFF)
# Sources at a time. After a change to one of them all are compiled; verbs change most often.
set(telltale_unity_size 16)
set(telltale_unity_size_cli/study 10)
set(telltale_unity_size_cli/verbs 7)
set(telltale_unity_size_import/csi 11)
# Eight, because what g++ inlines in the decoders' loops should not change.
set(telltale_unity_size_analysis/calls 8)
set(telltale_unity_size_formats/sampler 8)
set(telltale_unity_size_formats/xray 8)
# All of them: one unit takes one to two seconds less than two.
foreach(folder analysis/runtime cli/record collect output report)
  set(telltale_unity_size_${folder} 64)
endforeach()
# Small folders that are compiled with another one.
foreach(pair analysis/sites:analysis/paths cli/collect:cli/record cli/compat:cli/record cli/help:cli/record
             collect/client:collect collect/log:collect output/flame:output output/table:output output/tree:output
             report/schemas:report report/sites:report)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 folder)
  list(GET pair 1 telltale_unity_with_${folder})
endforeach()

# telltale_unity(TARGET SOURCES...): sources of one folder, and of those that are compiled with it, are compiled together, at
# most telltale_unity_size of them (telltale_unity_size_FOLDER, if set). So names in anonymous namespaces have to differ
# within a unit. Sources with the property SKIP_UNITY_BUILD_INCLUSION, set before, are compiled alone. CMake's own units
# have absolute paths, so that ccache would have to preprocess them again in every other checkout; these do not.
function(telltale_unity target)
  if(NOT TELLTALE_UNITY)
    return()
  endif()
  # g++ takes the sources of a unit for headers, whose types must not have members of anonymous types.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  get_target_property(compiled ${target} SOURCES)
  set(units)
  foreach(source IN LISTS ARGN)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(alone)
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${folder})
    if(DEFINED telltale_unity_with_${name})
      set(name ${telltale_unity_with_${name}})
    endif()
    set(size ${telltale_unity_size})
    if(DEFINED telltale_unity_size_${name})
      set(size ${telltale_unity_size_${name}})
    endif()
    if(NOT DEFINED count_${name})
      set(count_${name} 0)
    endif()
    math(EXPR batch "${count_${name}} / ${size}")
    math(EXPR count_${name} "${count_${name}} + 1")
    string(REGEX REPLACE "[./]+" "_" unit ${name}_${batch})
    list(APPEND units ${unit})
    file(RELATIVE_PATH include ${PROJECT_SOURCE_DIR}/src ${source})
    if(include MATCHES "^\\.\\.")
      file(RELATIVE_PATH include ${PROJECT_SOURCE_DIR} ${source})
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    endif()
    string(APPEND text_${unit} "#include \"${include}\"\n")
    list(REMOVE_ITEM compiled ${source})
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit IN LISTS units)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/units/${target}/${unit}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${unit}}" @ONLY)
    list(APPEND compiled ${file})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${compiled}")
endfunction()
