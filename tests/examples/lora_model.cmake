# Makes the model folder from which the recipe of adapters starts: a small decoder that has learned
# this repository's prose.
#   cmake -DMAKE_MODELS=program -DFINE_TUNE=program -DROOT=DIR -DWORK=DIR -P lora_model.cmake

file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${MAKE_MODELS} ${WORK} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FINE_TUNE} --model ${WORK}/llama --text ${ROOT}/README.md --text ${ROOT}/docs --context 64 --hold-out 0
  --global-batch 32 --epochs 4 --lr 0.01 --dtype f32 --threads 1 --quiet --workdir ${WORK}/learnt
  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "fine_tune ended with ${status}:\n${out}")
endif()
