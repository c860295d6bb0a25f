# Runs the recipe of pictures from captions with one option changed at a time. Each option must
# change the painted pictures. Wrong options are refused.
#   cmake -DPROGRAM=program -DWORK=DIR -P text_to_image.cmake

file(REMOVE_RECURSE ${WORK})
set(short --scenes 8 --global-batch 4 --held-out 8 --steps 2 --warmup 0 --judge-scenes 4 --threads 1 --dtype f64 --quiet)

function(painted name result)
  execute_process(COMMAND ${PROGRAM} ${short} ${ARGN} --workdir ${WORK}/${name}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0 OR NOT out MATCHES "of 100 painted pictures are recognised .*, of true pictures [0-9.]+")
    message(FATAL_ERROR "${ARGN} ended with ${status}:\n${out}")
  endif()
  file(SHA256 ${WORK}/${name}/pictures/painted.png hash)
  set(${result} ${hash} PARENT_SCOPE)
  # The sheet with captions, and the page that shows it
  file(STRINGS ${WORK}/${name}/pictures/painted.svg captions REGEX ">a (red|green|blue|yellow|purple|white)")
  file(STRINGS ${WORK}/${name}/report.html shown REGEX "painted")
  if(NOT captions OR NOT shown)
    message(FATAL_ERROR "${name}: painted.svg has no captions, or report.html does not show it")
  endif()
endfunction()

painted(standard standard)
painted(again again --mesh 2x1)
if(NOT again STREQUAL standard)
  message(FATAL_ERROR "two replicas paint other pictures than one rank")
endif()
foreach(change "--guidance 1" "--steps 3" "--dropped 1" "--scenes 12" "--seed 1" "--lr 0.01")
  string(REPLACE " " ";" words "${change}")
  string(MAKE_C_IDENTIFIER "${change}" name)
  painted(${name} changed ${words})
  if(changed STREQUAL standard)
    message(FATAL_ERROR "${change} changes no pixel")
  endif()
endforeach()

foreach(wrong "--guidance -1" "--steps 0" "--dropped 1.5" "--scenes 0" "--mesh 1x3")
  string(REPLACE " " ";" words "${wrong}")
  execute_process(COMMAND ${PROGRAM} ${short} ${words} --workdir ${WORK}/refused
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 64 OR NOT out MATCHES "^error: [^\n]+\n$")
    message(FATAL_ERROR "${wrong}: expected exit code 64 and one line, got ${status}:\n${out}")
  endif()
endforeach()
