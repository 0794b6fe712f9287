# One library a folder: warpcheck_library(NAME [LINKS target...]) makes a static library of all .cpp files of the
# current folder, with the project's warnings and include root.

set(WARPCHECK_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror)
set(WARPCHECK_SANITIZE "" CACHE STRING "Sanitizers for every target: address,undefined or thread")

add_library(warpcheck_flags INTERFACE)
target_include_directories(warpcheck_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(warpcheck_flags INTERFACE -march=x86-64-v2)
if(WARPCHECK_SANITIZE)
  target_compile_options(warpcheck_flags INTERFACE -fsanitize=${WARPCHECK_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(warpcheck_flags INTERFACE -fsanitize=${WARPCHECK_SANITIZE})
endif()

function(warpcheck_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINKS")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(warpcheck_${name} STATIC ${sources})
  target_link_libraries(warpcheck_${name} PUBLIC warpcheck_flags ${ARG_LINKS})
  target_compile_options(warpcheck_${name} PRIVATE ${WARPCHECK_WARNINGS})
endfunction()
