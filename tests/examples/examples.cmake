# Runs the examples that read pretrained models, as a user calls them.
#   cmake -DPROGRAMS=DIR -DMAKE_MODELS=program -DPAGE_PROGRAM=program -DWORK=DIR -P examples.cmake

file(REMOVE_RECURSE "${WORK}")
function(expect code text)
  list(POP_FRONT ARGN program)
  if(NOT IS_ABSOLUTE "${program}")
    set(program "${PROGRAMS}/${program}")
  endif()
  execute_process(COMMAND "${program}" ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL code OR NOT out MATCHES "${text}")
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "${program} ${words}: expected exit code ${code} and '${text}', got ${status}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()
set(quiet --workdir "${WORK}/run" --dtype f32 --quiet)
set(predicts --dtype f32)

expect(0 "" "${MAKE_MODELS}" "${WORK}")

# The generated text depends neither on the mesh nor on other prompts in the batch.
expect(0 "To be" generate --model "${WORK}/llama" --prompt "To be" --max-new-tokens 8 ${predicts})
set(alone "${out}")
expect(0 "To be" generate --model "${WORK}/llama" --prompt "To be" --max-new-tokens 8 --mesh 1x2 ${predicts})
if(NOT out STREQUAL alone)
  message(FATAL_ERROR "one rank and two shards continue differently:\n${alone}\n${out}")
endif()
expect(0 "### To be\n\n[^\n]" generate --model "${WORK}/llama" --prompt "To be" --prompt "or not, that is" --beams 3
  --max-new-tokens 4 --mesh 2x1 ${predicts})
expect(0 "To be" generate --model "${WORK}/llama" --prompt "To be" --max-new-tokens 8 --temperature 0.9 --top-p 0.8 ${predicts})
expect(64 "--top-p is 1.5 .*give 0 to 1" generate --model "${WORK}/llama" --prompt "To be" --temperature 1 --top-p 1.5 ${predicts})
expect(64 "--beams draws nothing" generate --model "${WORK}/llama" --prompt "To be" --beams 3 --temperature 0.9 ${predicts})
expect(64 "give --temperature" generate --model "${WORK}/llama" --prompt "To be" --top-p 0.9 ${predicts})
expect(64 "give --beams" generate --model "${WORK}/llama" --prompt "To be" --length-penalty 2 ${predicts})

# A prompt is one text exactly as written, including brackets, commas and quotes.
foreach(prompt "[INST] do it [/INST]" "[a, b]" "{}" "'a', \"b\"" "-x" "--- a")
  execute_process(COMMAND "${PROGRAMS}/generate" --model "${WORK}/llama" --prompt "${prompt}" --max-new-tokens 2 ${predicts}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE problem)
  string(FIND "${out}" "${prompt}" at)
  if(NOT status EQUAL 0 OR NOT at EQUAL 0)
    message(FATAL_ERROR "generate --prompt '${prompt}' ends with ${status} and continues another prompt:\n${out}${problem}")
  endif()
endforeach()

# Settings of generation_config.json are applied or refused by name. Keys of the folder without
# effect are listed.
file(COPY "${WORK}/llama/" DESTINATION "${WORK}/asks")
file(WRITE "${WORK}/asks/generation_config.json" "{\"num_beams\": 3, \"max_new_tokens\": 4, \"use_cache\": true, \"eos_token_id\": 256}")
expect(0 "generation_config.json: use_cache changes nothing here" generate --model "${WORK}/asks" --prompt "To be" --prompt "or not"
  ${predicts})

# Standard output has results only; notices, warnings and progress go to standard error.
function(expect_results results notices program)
  execute_process(COMMAND "${PROGRAMS}/${program}" ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE errors)
  if(NOT status EQUAL 0 OR NOT out MATCHES "^${results}$" OR NOT errors MATCHES "${notices}" OR out MATCHES "${notices}|warning: ")
    message(FATAL_ERROR "${program} ${ARGN} ends with ${status}; standard output:\n${out}\nstandard error:\n${errors}")
  endif()
endfunction()
expect_results("### To be\n\n.*\n\n### or not\n\n.*\n\n" "use_cache changes nothing here" generate --model "${WORK}/asks"
  --prompt "To be" --prompt "or not" ${predicts})

# A program that only predicts has no options of training, and no program offers a type that
# computes nothing.
execute_process(COMMAND "${PROGRAMS}/generate" --help OUTPUT_VARIABLE help)
foreach(flag workdir resume recompute gradient-bucket overlap cuda-graph check-saved quiet lr epochs)
  if(help MATCHES "--${flag} |--${flag},")
    message(FATAL_ERROR "generate offers --${flag}:\n${help}")
  endif()
  expect(64 "unknown option --${flag}" generate --model "${WORK}/llama" --prompt "To be" --${flag} 1)
endforeach()
foreach(flag ranks n-model-shards mesh seed device dtype tf32 threads deadline deterministic prompt max-new-tokens)
  if(NOT help MATCHES "--${flag}[ ,]")
    message(FATAL_ERROR "generate does not offer --${flag}:\n${help}")
  endif()
endforeach()
foreach(program mnist own_layer)
  execute_process(COMMAND "${PROGRAMS}/${program}" --help OUTPUT_VARIABLE help)
  if(help MATCHES "--recompute" OR NOT help MATCHES "--cuda-graph" OR NOT help MATCHES "--resume" OR NOT help MATCHES "--overlap"
     OR NOT help MATCHES "--check-saved")
    message(FATAL_ERROR "${program} offers an option that it cannot use, or lacks one that it can use:\n${help}")
  endif()
  expect(64 "unknown option --recompute" ${program} --recompute)
endforeach()
foreach(program ddpg fedavg maml ppo)
  execute_process(COMMAND "${PROGRAMS}/${program}" --help OUTPUT_VARIABLE help)
  if(help MATCHES "--check-saved|--cuda-graph|--recompute" OR NOT help MATCHES "--resume " OR NOT help MATCHES "--overlap")
    message(FATAL_ERROR "${program} offers an option that it cannot use, or lacks one that it can use:\n${help}")
  endif()
endforeach()
foreach(program IN ITEMS captioning classification ddpg dpo fedavg fine_tune generate language_modeling lora maml mnist own_layer ppo seq2seq)
  execute_process(COMMAND "${PROGRAMS}/${program}" --help OUTPUT_VARIABLE help)
  if(NOT help MATCHES "--dtype f32.bf16.f64 ")
    message(FATAL_ERROR "${program} offers other types than f32, bf16 and f64:\n${help}")
  endif()
endforeach()
# The help lists a program's own options under its name and all others in named groups. Each option
# has a sentence and is required, optional or has a default. Each number has a range.
foreach(program IN ITEMS captioning ddpg dpo fedavg fine_tune generate language_modeling lora maml mnist own_layer ppo seq2seq)
  execute_process(COMMAND "${PROGRAMS}/${program}" --help OUTPUT_VARIABLE help)
  if(NOT help MATCHES "^usage: ${program} .OPTIONS.\n[^\n]+\n\noptions of ${program}:\n  --.*\n\ngeneral:\n  --config .*\n\nmesh:\n.*\ncomputation:\n")
    message(FATAL_ERROR "${program} --help is not in groups:\n${help}")
  endif()
  string(REPLACE ";" "," help "${help}")
  string(REGEX REPLACE "\n          +" " " lines "${help}")
  string(REGEX MATCHALL "\n  --[^\n]+" lines "${lines}")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^\n  --config " AND NOT line MATCHES "[^ ] [(](default .*|required|optional)[)]$")
      message(FATAL_ERROR "${program} --help has no sentence or default for${line}")
    endif()
    if(line MATCHES " (INTEGER|NUMBER) " AND NOT line MATCHES "or more[)]$|[0-9] to [0-9]|at most [0-9]|any number")
      message(FATAL_ERROR "${program} --help has no range for${line}")
    endif()
  endforeach()
endforeach()
file(WRITE "${WORK}/asks/generation_config.json" "{\"typical_p\": 0.5, \"eos_token_id\": 256}")
expect(65 "generation_config.json: .typical_p. is 0.5, which is not supported" generate --model "${WORK}/asks" --prompt "To be" ${predicts})

# Values that an option cannot have are refused before any file is opened.
set(files --model "${WORK}/nothing" --text "${WORK}/nothing")
foreach(program fine_tune lora)
  expect(65 "nothing: No such file" ${program} ${files} --context 1 --hold-out 2)
  expect(64 "--context is 0 .*: give 1 or more" ${program} ${files} --context 0)
  expect(64 "--context is -5 .*: give 1 or more" ${program} ${files} --context -5)
endforeach()
foreach(case fine_tune=0 lora=2)
  string(REGEX MATCH "(.*)=(.*)" case ${case})
  set(cure "give ${CMAKE_MATCH_2} or more")
  expect(64 "--hold-out is -3 .*: ${cure}" ${CMAKE_MATCH_1} ${files} --hold-out -3)
  expect(64 "--hold-out: .*1[.]5.*: ${cure}" ${CMAKE_MATCH_1} ${files} --hold-out 1.5)
endforeach()
expect(65 "nothing: No such file" fine_tune ${files} --hold-out 0)
expect(64 "--hold-out is 1 .*: give 2 or more" lora ${files} --hold-out 1)
expect(64 "--rank is 0 .*: give 1 or more" lora ${files} --rank 0)
set(files --model "${WORK}/nothing" --data "${WORK}/nothing" --eval "${WORK}/nothing")
foreach(flag max-source max-target beams examples held-out)
  expect(64 "--${flag} is 0 .*: give 1 or more" seq2seq ${files} --${flag} 0)
endforeach()

expect(64 "error: required and not given: --prompt TEXT... .texts to continue" generate --model "${WORK}/llama" ${predicts})
expect(64 "error: required and not given: --model TEXT .*, --prompt" generate)
expect(64 "--data and --eval belong together" seq2seq --data "${WORK}/nothing")
expect(64 "--data and --eval belong together" seq2seq --eval "${WORK}/nothing")
expect(64 "--data and --eval belong together" dpo --data "${WORK}/nothing")
expect(65 "bart, which this program does not run" generate --model "${WORK}/bart" --prompt "To be" ${predicts})
expect(65 "nothing: No such file" generate --model "${WORK}/nothing" --prompt "To be" ${predicts})

# Conversations: the loss counts answers only, and generate asks in the format of the chat template.
file(WRITE "${WORK}/chats.jsonl" "{\"messages\": [{\"role\": \"user\", \"content\": \"To be?\"}, {\"role\": \"assistant\", \"content\": \"Or not.\"}]}\n\
{\"prompt\": \"To \", \"completion\": \"sleep\"}\n{\"prompt\": \"A very long prompt, of which the answer does not fit\", \"completion\": \".\"}\n")
set(chats --model "${WORK}/talks" --conversations "${WORK}/chats.jsonl" --context 24 --hold-out 0 --global-batch 2 --epochs 80 --lr 0.02
  --warmup 1 --workdir "${WORK}/chatted" --dtype f32 --quiet)
file(COPY "${WORK}/llama/" DESTINATION "${WORK}/talks")
expect(65 "has no chat template" fine_tune ${chats})
file(WRITE "${WORK}/talks/chat_template.jinja"
  "{% for m in messages %}{{ m.role[0] | upper }}:{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}A:{% endif %}")
expect(0 "2 conversations, 0 of them cut at 24 tokens; 1 left out" fine_tune ${chats})
expect(0 "\nOr not" generate --model "${WORK}/chatted/model" --chat --prompt "To be?" --max-new-tokens 7 ${predicts})
expect(64 "give --text or --conversations, and not both" fine_tune ${chats} --text "${WORK}/chats.jsonl")
# A batch of packed rows has the loss and the gradient of the texts alone.
file(WRITE "${WORK}/prompts.jsonl" "{\"prompt\": \"To \", \"completion\": \"sleep\"}\n{\"prompt\": \"perchance \", \"completion\": \"to dream\"}\n\
{\"prompt\": \"ay, there's \", \"completion\": \"the rub\"}\n{\"prompt\": \"For in\", \"completion\": \" that sleep\"}\n\
{\"prompt\": \"of \", \"completion\": \"death\"}\n")
foreach(case IN ITEMS alone:1x1 packed:1x1:--pack halves:2x1:--pack shards:1x2:--pack)
  string(REPLACE ":" ";" case ${case})
  list(GET case 0 name)
  list(GET case 1 mesh)
  set(flags ${case})
  list(REMOVE_AT flags 0 1)
  expect(0 "" fine_tune --model "${WORK}/talks" --conversations "${WORK}/prompts.jsonl" --context 31 --hold-out 0 --global-batch 5
    --max-steps 1 --warmup 1 --dtype f64 --quiet --mesh ${mesh} --workdir "${WORK}/pack_${name}" ${flags})
  if(flags AND NOT out MATCHES "5 texts in [234] rows")
    message(FATAL_ERROR "--pack packed nothing:\n${out}")
  endif()
  file(STRINGS "${WORK}/pack_${name}/metrics.jsonl" first LIMIT_COUNT 1)
  string(REGEX MATCH "\"loss\":([0-9.]+),.*\"grad_norm\":([0-9.]+)" first "${first}")
  string(SUBSTRING "${CMAKE_MATCH_1}" 0 12 loss)
  string(SUBSTRING "${CMAKE_MATCH_2}" 0 12 norm)
  if(NOT flags)
    set(expected "${loss} ${norm}")
  elseif(NOT "${loss} ${norm}" STREQUAL expected)
    message(FATAL_ERROR "fine_tune --pack on ${mesh} has loss and norm ${loss} ${norm}, not ${expected}")
  endif()
endforeach()
expect(64 "give --chat" generate --model "${WORK}/llama" --prompt "a" --system "b" ${predicts})
expect(65 "has no chat template" generate --model "${WORK}/llama" --prompt "a" --chat ${predicts})

# A model that was trained further is saved as a Hugging Face folder. A finished run does not start
# again.
file(WRITE "${WORK}/notes.txt" "Whether 'tis nobler in the mind to suffer the slings and arrows of outrageous fortune, or to take \
arms against a sea of troubles, and by opposing end them: to die, to sleep.\n")
file(WRITE "${WORK}/lines.jsonl" "{\"text\": \"No more; and by a sleep to say we end\"}\n{\"text\": \"The heart-ache\"}\n")
set(tune --model "${WORK}/llama" --text "${WORK}/notes.txt" --text "${WORK}/lines.jsonl" --context 16 --hold-out 5
  --global-batch 4 --micro-batch 1 --epochs 2 --lr 0.05 --warmup 1 --mesh 2x1 --workdir "${WORK}/tuned" --dtype f32 --quiet)
expect(0 "plan: mesh 2x1, f32, adamw, 2 micro-batches.*model saved in ${WORK}/tuned/model" fine_tune ${tune})
expect_results("plan: .*" "resumed from [^\n]*" fine_tune ${tune})
expect(0 "To be" generate --model "${WORK}/tuned/model" --prompt "To be" --max-new-tokens 8 ${predicts})
if(out STREQUAL alone)
  message(FATAL_ERROR "training changed nothing")
endif()
expect(0 "resumed from " fine_tune ${tune})
expect(0 "bf16" fine_tune ${tune} --dtype bf16 --mesh 1x2 --workdir "${WORK}/bf16")
set(tune_readme --text "${WORK}/notes.txt" --workdir "${WORK}/readme" --dtype f32 --quiet)
expect(0 "" "${PAGE_PROGRAM}" --model "${WORK}/llama" --mesh 1x2 ${tune_readme})
expect(0 "To be" generate --model "${WORK}/readme/model" --prompt "To be" --max-new-tokens 8 ${predicts})
expect(65 "bart, which this program does not run; give one of llama" "${PAGE_PROGRAM}" --model "${WORK}/bart" ${tune_readme})
expect(65 "lines.jsonl:1: no text under the key" fine_tune ${tune} --key body --workdir "${WORK}/other")
execute_process(COMMAND printf "na\\357ve caf\\351s and much more of the slings and arrows" OUTPUT_FILE "${WORK}/latin1.txt")
# 2 of 50 bytes; the message stops the program before training
foreach(program IN ITEMS fine_tune lora language_modeling)
  set(latin1 --text "${WORK}/latin1.txt" --mesh 1x5 --workdir "${WORK}/latin1" ${quiet})
  if(NOT program STREQUAL language_modeling)
    list(APPEND latin1 --model "${WORK}/llama")
  endif()
  expect(65 "latin1.txt has 2 bytes of [0-9]+ that are NUL or no UTF-8, the first at byte 2" ${program} ${latin1})
  expect(65 "latin1.txt has 2 bytes of" ${program} ${latin1} --invalid-utf8 0.01)
  expect(64 "" ${program} ${latin1} --invalid-utf8 0.05)
endforeach()
execute_process(COMMAND printf "{\"text\": \"na\\357ve caf\\351s\"}\\n" OUTPUT_FILE "${WORK}/latin1.jsonl")  # 2 of 26 bytes
set(latin1 --model "${WORK}/llama" --text "${WORK}/latin1.jsonl" --mesh 1x5 --workdir "${WORK}/latin1" ${quiet})
expect(65 "latin1.jsonl:1: 0xEF at byte 12 is the first of 2 bytes of [0-9]+ that are no UTF-8" fine_tune ${latin1})
expect(64 "" fine_tune ${latin1} --invalid-utf8 0.1)
file(COPY "${WORK}/llama/model.safetensors" "${WORK}/llama/tokenizer.json" DESTINATION "${WORK}/wrong")
file(READ "${WORK}/llama/config.json" config)
string(REPLACE "\"intermediate_size\": 40" "\"intermediate_size\": 44" config "${config}")
file(WRITE "${WORK}/wrong/config.json" "${config}")
expect(65 "mlp.gate_proj.weight. has shape .40, 24. in the file, the model has .44, 24." fine_tune ${tune} --model "${WORK}/wrong"
  --workdir "${WORK}/other")

# Adapters of a fused weight are the default. The merged folder can be trained further. A bound that
# is missed gives an exit code.
set(adapt --model "${WORK}/gpt2" --text "${WORK}/notes.txt" --context 16 --hold-out 5 --rank 1 --epochs 20 --warmup 1 --global-batch 4
  --dtype f32 --quiet)
expect(0 "attn.qkv.lora_A.weight x2 .*parameters trained" lora ${adapt} --lr 0.1 --mesh 1x2 --workdir "${WORK}/adapted")
expect(0 "To be" generate --model "${WORK}/adapted/merged" --prompt "To be" --max-new-tokens 8 ${predicts})
expect(1 "of 100 parameters trained" lora ${adapt} --lr 1e-9 --workdir "${WORK}/unadapted")
expect(64 "no weight 'other' takes an adapter" lora ${adapt} --targets qkv,other --workdir "${WORK}/other")
expect(64 "name the target qkv" lora ${adapt} --targets q,v --workdir "${WORK}/other")
# PEFT's names of modules, all-linear, and conversations.
expect(0 "attn.qkv.lora_A.weight x2 .*parameters trained" lora ${adapt} --targets c_attn --lr 0.1 --bound 2 --workdir "${WORK}/named")
expect(1 "attn.o.lora_A.weight x2 .*mlp.down.lora_A.weight x2 .*parameters trained" lora ${adapt} --targets all-linear --max-steps 1
  --workdir "${WORK}/linear")
string(REPEAT "{\"prompt\": \"To be or\", \"completion\": \" not to be\"}\n{\"prompt\": \"that is\", \"completion\": \" the question\"}\n"
  6 asked)
file(WRITE "${WORK}/asked.jsonl" "${asked}")
expect(0 "12 conversations, 0 of them cut at 24 tokens.*self_attn.q.lora_A.weight x2 .*parameters trained" lora --model "${WORK}/llama"
  --conversations "${WORK}/asked.jsonl" --context 24 --hold-out 5 --rank 1 --max-steps 2 --global-batch 4 --bound 2 --dtype f32 --quiet
  --workdir "${WORK}/answered")
expect(64 "give --text or --conversations, and not both" lora --model "${WORK}/llama" --workdir "${WORK}/other")

file(WRITE "${WORK}/articles.jsonl" "{\"document\": \"A storm closed the port on Monday.\", \"summary\": \"Storm closes port.\"}\n\
{\"document\": \"The council voted for the bridge after a long debate.\", \"summary\": \"Council votes for bridge.\"}\n\
{\"document\": \"Rain.\", \"summary\": \"Rain.\"}\n")
set(articles --data "${WORK}/articles.jsonl" --eval "${WORK}/articles.jsonl")
set(bart --model "${WORK}/bart" ${articles} --max-target 12 --beams 2 ${quiet})
expect(0 "1/2 loss [0-9.]+ lr 5[.]0e-5.*exact match [0-9.]+, ROUGE-L [0-9.]+" seq2seq ${bart} --epochs 2 --global-batch 2 --warmup 0 --mesh 1x2
  --workdir "${WORK}/learnt")
file(READ "${WORK}/learnt/config.json" config)
if(NOT config MATCHES "\"lr\": 5e-0?5")
  message(FATAL_ERROR "config.json has another learning rate than the run:\n${config}")
endif()
expect(0 "1/2 loss [0-9.]+ lr 2[.]0e-3.*ROUGE-L [0-9.]+" seq2seq ${articles} --max-target 12 --epochs 2 --global-batch 2 --warmup 0 ${quiet} --workdir "${WORK}/fresh")

# Every option of the reading, the cut and the search changes the loss or the texts of a folder's
# model.
function(scores_of result)
  expect(0 "held-out loss [0-9.]+" seq2seq ${bart} --lr 0 --resume none ${ARGN})
  string(REGEX MATCH "held-out loss [0-9.]+" loss "${out}")
  file(READ "${WORK}/run/outputs_epoch0.json" outputs)
  set(${result} "${loss} ${outputs}" PARENT_SCOPE)
endfunction()
scores_of(standard)
foreach(option "--prefix;summarize: " "--max-source;3" "--max-target;5" "--beams;3" "--source;summary"
    "--target;document")
  scores_of(changed ${option})
  if(changed STREQUAL standard)
    message(FATAL_ERROR "${option} changes neither the loss nor the texts: ${changed}")
  endif()
endforeach()
scores_of(long --beams 200 --length-penalty 9)  # with so many beams, one ends at once
scores_of(short --beams 200 --length-penalty -9)
if(long STREQUAL short)
  message(FATAL_ERROR "--length-penalty changes nothing: ${long}")
endif()

file(WRITE "${WORK}/empty.jsonl" "")
file(WRITE "${WORK}/untitled.jsonl" "{\"document\": \"Rain.\", \"summary\": \"Rain.\"}\n{\"document\": \"Fog.\"}\n")
file(WRITE "${WORK}/prose.jsonl" "{\"document\": \"Rain.\", \"summary\": \"Rain.\"}\nFog.\n")
file(WRITE "${WORK}/list.jsonl" "[1, 2]\n")
foreach(case "absent.jsonl is no file" "empty.jsonl has no line" "untitled.jsonl:2: no text under the key .summary."
    "prose.jsonl:2:1:2: syntax error" "list.jsonl:1: the line is no object")
  string(REGEX MATCH "^[a-z]+.jsonl" file "${case}")
  expect(65 "error: [^\n]*${case}[^\n]*\n$" seq2seq --data "${WORK}/${file}" --eval "${WORK}/articles.jsonl" ${quiet})
  expect(65 "error: [^\n]*${case}[^\n]*\n$" seq2seq --data "${WORK}/articles.jsonl" --eval "${WORK}/${file}" ${quiet})
endforeach()
execute_process(COMMAND printf "{\"document\": \"Caf\\351s close.\", \"summary\": \"Closed.\"}\\n" OUTPUT_FILE "${WORK}/latin1.jsonl")
set(latin1 --model "${WORK}/bart" --eval "${WORK}/articles.jsonl" --mesh 1x5 ${quiet})
expect(65 "latin1.jsonl:1: 0xE9 at byte 17 is the first of 1 bytes of [0-9]+ that are no UTF-8" seq2seq ${latin1}
  --data "${WORK}/latin1.jsonl")
expect(64 "" seq2seq ${latin1} --data "${WORK}/latin1.jsonl" --invalid-utf8 0.1)
expect(65 "latin1.jsonl:1: 0xE9" seq2seq --model "${WORK}/bart" --data "${WORK}/articles.jsonl" --eval "${WORK}/latin1.jsonl"
  --mesh 1x5 ${quiet})
expect(65 "llama, which this program does not run" seq2seq --model "${WORK}/llama" ${articles} ${quiet})

# Preferences: a folder's decoder learns pairs of texts and of conversations, and is saved.
file(WRITE "${WORK}/pairs.jsonl" "{\"prompt\": \"To be\", \"chosen\": \" or not\", \"rejected\": \" and so\"}\n\
{\"prompt\": \"To \", \"chosen\": \"sleep\", \"rejected\": \"sleep no more than that, and by opposing end them all\"}\n")
file(WRITE "${WORK}/chosen.jsonl" "{\"prompt\": [{\"role\": \"user\", \"content\": \"To be?\"}], \
\"chosen\": [{\"role\": \"assistant\", \"content\": \"Or not.\"}], \"rejected\": [{\"role\": \"assistant\", \"content\": \"Yes.\"}]}\n")
set(pairs --data "${WORK}/pairs.jsonl" --eval "${WORK}/chosen.jsonl")
expect(0 "1 pairs; 1 left out, longer than --context 40.*epoch 1/2 1/1 loss 0[.]693 lr 5[.]0e-3.*preference accuracy [0-9.]+ of 100" dpo
  --model "${WORK}/talks" ${pairs} --context 40 --epochs 2 --lr 5e-3 --warmup 0 --global-batch 1 ${quiet} --mesh 1x2 --workdir "${WORK}/preferred")
expect(0 "To be" generate --model "${WORK}/preferred/model" --prompt "To be" --max-new-tokens 8 ${predicts})
expect(0 "lr 1[.]0e-6" dpo --model "${WORK}/talks" ${pairs} --warmup 0 ${quiet} --workdir "${WORK}/slow")
expect(0 "2 pairs; 0 left out" dpo --data "${WORK}/pairs.jsonl" --eval "${WORK}/pairs.jsonl" ${quiet} --workdir "${WORK}/bytes")
expect(65 "every pair is longer than the context: raise --context" dpo --model "${WORK}/talks" ${pairs} --context 4 ${quiet})
expect(65 "has no chat template" dpo --model "${WORK}/llama" ${pairs} ${quiet})
expect(65 "bart, which this program does not run" dpo --model "${WORK}/bart" ${pairs} ${quiet})
file(WRITE "${WORK}/halves.jsonl" "{\"prompt\": \"a\", \"chosen\": \"b\", \"rejected\": \"c\"}\n{\"prompt\": \"a\", \"chosen\": \"b\"}\n")
file(WRITE "${WORK}/blank.jsonl" "{\"prompt\": \"a\", \"chosen\": \"b\", \"rejected\": \"\"}\n")
foreach(case "absent.jsonl is no file" "empty.jsonl has no line" "prose.jsonl:1: the line has no .prompt. and .chosen."
    "halves.jsonl:2: the line has no .prompt. and .rejected." "blank.jsonl:1: the answer under .rejected. is empty" "list.jsonl:1: the line is no object")
  string(REGEX MATCH "^[a-z]+.jsonl" file "${case}")
  expect(65 "error: [^\n]*${case}[^\n]*\n$" dpo --data "${WORK}/${file}" --eval "${WORK}/pairs.jsonl" ${quiet})
  expect(65 "error: [^\n]*${case}[^\n]*\n$" dpo --data "${WORK}/pairs.jsonl" --eval "${WORK}/${file}" ${quiet})
endforeach()
file(WRITE "${WORK}/fog.jsonl" "Fog\n")
expect(65 "error: [^\n]*fog.jsonl:1:1:2: syntax error" dpo --data "${WORK}/fog.jsonl" --eval "${WORK}/pairs.jsonl" ${quiet})
execute_process(COMMAND printf "{\"prompt\": \"Caf\\351\", \"chosen\": \"Yes.\", \"rejected\": \"No.\"}\\n" OUTPUT_FILE "${WORK}/latin1.jsonl")
expect(65 "latin1.jsonl:1: 0xE9" dpo --data "${WORK}/latin1.jsonl" --eval "${WORK}/pairs.jsonl" ${quiet})
expect(64 "" dpo --data "${WORK}/latin1.jsonl" --eval "${WORK}/pairs.jsonl" --invalid-utf8 0.1 --mesh 1x5 ${quiet})
foreach(flag context pairs held-out)
  expect(64 "--${flag} is 0 .*: give 1 or more" dpo ${pairs} --${flag} 0)
endforeach()
expect(64 "--beta is -1.0 .*: give 0 or more" dpo ${pairs} --beta -1)
