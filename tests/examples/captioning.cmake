# Runs the recipe of captions on tables of pictures: from scratch, with a model folder, and with a
# mistake each.
#   cmake -DPROGRAM=program -DROOT=DIR -DWORK=DIR -P captioning.cmake

file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND python3 ${ROOT}/tests/examples/make_pictures.py ${WORK} ${ROOT}/tests/files/parity/vit-gpt2
  COMMAND_ERROR_IS_FATAL ANY)

function(expect code text)
  execute_process(COMMAND ${PROGRAM} --threads 1 --dtype f32 --quiet ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL code OR NOT out MATCHES "${text}")
    message(FATAL_ERROR "${ARGN}: expected exit code ${code} and '${text}', got ${status}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

# Four captions are learnt from pictures of any size, in PPM and PNG.
set(tables --data ${WORK}/good.tsv --eval ${WORK}/good.tsv)
expect(0 "exact captions 1.000000, ROUGE-L 1.000000" ${tables} --global-batch 4 --epochs 30 --lr 1e-3 --warmup 5 --mesh 2x1
  --workdir ${WORK}/learnt)
file(READ ${WORK}/learnt/pictures/attention.svg attention)
if(NOT EXISTS ${WORK}/learnt/pictures/captions.svg OR NOT attention MATCHES "light")
  message(FATAL_ERROR "the pictures of captions are missing")
endif()

# A folder is trained further, and saved. Each option changes the loss or the captions.
set(model --model ${WORK}/model ${tables} --global-batch 8 --warmup 0)
expect(0 "1/3 loss [0-9.]+ lr 5[.]0e-5.*exact captions [0-9.]+, ROUGE-L" ${model} --epochs 3 --mesh 1x2 --workdir ${WORK}/further)
expect(0 "held-out loss [0-9.]+" --model ${WORK}/further/model ${tables} --lr 0 --workdir ${WORK}/again)
function(scores_of result)
  expect(0 "held-out loss [0-9.]+" ${model} --lr 0 --resume none --workdir ${WORK}/scores ${ARGN})
  string(REGEX MATCH "held-out loss [0-9.]+" loss "${out}")
  file(READ ${WORK}/scores/outputs_epoch0.json outputs)
  set(${result} "${loss} ${outputs}" PARENT_SCOPE)
endfunction()
scores_of(standard)
foreach(option "--max-caption;5" "--beams;3" "--caption;image")
  scores_of(changed ${option})
  if(changed STREQUAL standard)
    message(FATAL_ERROR "${option} changes neither the loss nor the captions: ${changed}")
  endif()
endforeach()
scores_of(long --beams 20 --length-penalty 9)
scores_of(short --beams 20 --length-penalty -9)
if(long STREQUAL short)
  message(FATAL_ERROR "--length-penalty changes nothing: ${long}")
endif()
# The model reads the colours on the scale of the folder's preprocessor_config.json.
file(WRITE ${WORK}/model/preprocessor_config.json "{\"image_mean\": [0.1, 0.2, 0.3], \"image_std\": [0.5, 0.5, 0.5]}")
scores_of(shifted)
file(WRITE ${WORK}/model/preprocessor_config.json "{\"image_mean\": [0.5, 0.5, 0.5], \"image_std\": [0.2, 0.3, 0.4]}")
scores_of(stretched)
file(WRITE ${WORK}/model/preprocessor_config.json "{\"image_mean\": [0.5, 0.5, 0.5], \"image_std\": [0.5, 0.5, 0.5]}")
scores_of(same)
if(shifted STREQUAL standard OR stretched STREQUAL standard OR NOT same STREQUAL standard)
  message(FATAL_ERROR "the scale of colours:\n${standard}\n${shifted}\n${stretched}\n${same}")
endif()
expect(0 "held-out loss" --model ${WORK}/model --data ${WORK}/good.tsv --eval ${WORK}/good.tsv --lr 0 --workdir ${WORK}/tables)
expect(0 "held-out loss" --data ${WORK}/good.jsonl --eval ${WORK}/good.jsonl --image path --caption says --workdir ${WORK}/jsonl)

# A caption ends with the folder's end token, also if its tokenizer adds none. The loss is that of
# transformers.
set(case ${ROOT}/../shared/cases/54-caption-without-end)
if(EXISTS ${case})
  expect(0 "" --model ${case}/vit --data ${case}/pics/t.jsonl --eval ${case}/pics/t.jsonl --lr 0 --weight-decay 0 --warmup 0 --max-steps 1
    --global-batch 8 --max-caption 20 --beams 1 --workdir ${WORK}/ended)
  file(STRINGS ${WORK}/ended/metrics.jsonl first LIMIT_COUNT 1)
  if(NOT first MATCHES "\"loss\":6[.]3012[67]")
    message(FATAL_ERROR "captions have another loss than 6.301265: ${first}")
  endif()
elseif(DEFINED ENV{CI})
  message(FATAL_ERROR "${case} is missing")
endif()

# The message is one line, and nothing else is printed.
function(refuse code text)
  expect(${code} "^error: [^\n]*${text}[^\n]*\n$" --workdir ${WORK}/refused ${ARGN})
endfunction()
foreach(case "nowhere.tsv: No such file" "missing.tsv:4: .*seen/no.png: No such file" "truncated.tsv:3: image .*cut.png ends before"
    "magic.tsv:2: image .*note.png is no PNG, JPEG or binary PPM" "columns.tsv" "empty.tsv")
  string(REGEX MATCH "^[a-z]+.tsv" file "${case}")
  refuse(65 "${case}" --data ${WORK}/${file} --eval ${WORK}/good.tsv)
  refuse(65 "${case}" --data ${WORK}/good.tsv --eval ${WORK}/${file})
endforeach()
refuse(64 "--data and --eval belong together" --data ${WORK}/good.tsv)
refuse(64 "--data and --eval belong together" --eval ${WORK}/good.tsv)
expect(64 "exceed the context of 33" ${model} --max-caption 40 --workdir ${WORK}/long)
file(WRITE ${WORK}/model/preprocessor_config.json "{\"image_mean\": [0.5, 0.5]}")
refuse(65 "preprocessor_config.json: .image_mean. is no list of three numbers" ${model})
file(WRITE ${WORK}/model/preprocessor_config.json "{\"do_center_crop\": true, \"crop_size\": 16}")
refuse(65 "preprocessor_config.json: .do_center_crop. is true, which is not supported" ${model})
file(REMOVE ${WORK}/model/preprocessor_config.json)
file(READ ${WORK}/model/config.json config)
string(REPLACE "\"model_type\": \"gpt2\"" "\"model_type\": \"llama\"" config "${config}")
file(WRITE ${WORK}/model/config.json "${config}")
refuse(65 "\"decoder\" describes a model whose \"model_type\" is \"llama\", which is not supported" ${model})
