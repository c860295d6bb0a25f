# The table of the rooms of include/redco by floor, and of the one room that may include each
# third-party library. Read by CMakeLists.txt, tests/CMakeLists.txt and CheckFloors.cmake.

set(REDCO_FLOOR_1 meta diag)
set(REDCO_FLOOR_2 shape json random metrics)
set(REDCO_FLOOR_3 optimizer pipeline tokenizer safetensors log fact)
set(REDCO_FLOOR_4 layer data)
set(REDCO_FLOOR_5 model options)
set(REDCO_FLOOR_6 shard pretrained workdir schedule)
set(REDCO_FLOOR_7 cost)
set(REDCO_FLOOR_8 report compat)
# The torch line: the floors above this line, and the folders plan/ of the rooms below it, compile
# without torch.
set(REDCO_FLOOR_9 tensor)
set(REDCO_FLOOR_10 comm)
set(REDCO_FLOOR_11 kernel update ckpt)
set(REDCO_FLOOR_12 nn)
set(REDCO_FLOOR_13 generate text adapt)
set(REDCO_FLOOR_14 run)

set(REDCO_PLAN_ROOMS)
set(REDCO_TORCH_ROOMS)
foreach(floor RANGE 1 14)
  foreach(room IN LISTS REDCO_FLOOR_${floor})
    set(REDCO_FLOOR_OF_${room} ${floor})
    if(floor LESS 9)
      list(APPEND REDCO_PLAN_ROOMS ${room})
    else()
      list(APPEND REDCO_TORCH_ROOMS ${room})
    endif()
  endforeach()
endforeach()
set(REDCO_ROOMS ${REDCO_PLAN_ROOMS} ${REDCO_TORCH_ROOMS})

# Lists the rooms that the given rooms and their tests include, directly or not, with the given
# rooms. Lists all rooms if none is given, or if an argument such as `walls` is not a room.
function(redco_rooms_used result)
  set(open ${ARGN})
  set(used)
  while(open)
    list(POP_FRONT open room)
    if(NOT room IN_LIST REDCO_ROOMS)
      set(open)
      set(used)
    elseif(NOT room IN_LIST used)
      list(APPEND used ${room})
      set(folders include/redco/${room})
      if(room IN_LIST ARGN)
        list(APPEND folders tests/${room})
      endif()
      foreach(folder IN LISTS folders)
        file(GLOB_RECURSE files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.[ch]pp")
        foreach(file IN LISTS files)
          file(STRINGS "${file}" lines REGEX "^#include <redco/[a-z]+/")
          list(TRANSFORM lines REPLACE "^#include <redco/([a-z]+)/.*" "\\1")
          list(APPEND open ${lines})
        endforeach()
      endforeach()
      list(REMOVE_DUPLICATES open)
    endif()
  endwhile()
  if(NOT used)
    set(used ${REDCO_ROOMS})
  endif()
  set(${result} ${used} PARENT_SCOPE)
endfunction()

# Pattern of an #include line -> the only room that may contain it.
set(REDCO_DOORS
  "^boost/hana" meta
  "^nlohmann/" json
  "^range/v3/" data
  "^CLI/" options
  "^(ATen|c10|torch)/" tensor
  "^cereal/" workdir
  "^xxhash\\.h$" safetensors
  "^stb/" data
  "^((utf8proc|pcre2|sentencepiece_processor)\\.h$|minja/)" tokenizer
  "^(mpi|nccl)\\.h$" comm)

# Headers directly in include/redco that are not umbrellas.
set(REDCO_NOT_UMBRELLAS config.hpp)
