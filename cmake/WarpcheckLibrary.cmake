# One library a folder: warpcheck_library(NAME [LINKS target...] [EXCLUDE file...]) makes a static library of all .cpp files of the
# current folder, with the project's warnings and include root.

option(WARPCHECK_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})
set(WARPCHECK_SANITIZE "" CACHE STRING "Sanitizers for every target: address,undefined or thread")

# -Wno-restrict: GCC 12 warns of std::string assignments that are right (GCC bug 105651).
set(WARPCHECK_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-restrict)
if(WARPCHECK_SANITIZE)
  list(APPEND WARPCHECK_WARNINGS -Wno-maybe-uninitialized)  # GCC 12 with sanitizers: false alarms in std::regex
endif()
if(WARPCHECK_WERROR)
  list(APPEND WARPCHECK_WARNINGS -Werror)
endif()

add_library(warpcheck_flags INTERFACE)
target_compile_features(warpcheck_flags INTERFACE cxx_std_20)
target_include_directories(warpcheck_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/warpcheck>)
target_compile_options(warpcheck_flags INTERFACE $<BUILD_INTERFACE:-march=x86-64-v2>)
if(WARPCHECK_SANITIZE)
  target_compile_options(warpcheck_flags INTERFACE -fsanitize=${WARPCHECK_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(warpcheck_flags INTERFACE -fsanitize=${WARPCHECK_SANITIZE})
endif()

function(warpcheck_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINKS;EXCLUDE")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(excluded ${ARG_EXCLUDE})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${excluded})
  endforeach()
  add_library(warpcheck_${name} STATIC ${sources})
  set_target_properties(warpcheck_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(warpcheck_${name} PUBLIC warpcheck_flags ${ARG_LINKS})
  target_compile_options(warpcheck_${name} PRIVATE ${WARPCHECK_WARNINGS})
endfunction()
