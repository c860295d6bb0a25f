# Runs the programs of examples/ and of the pages as a user calls them.

# Runs the demo's program as a user calls it, and checks its output and its exit codes.
function(redco_demo_test name exit)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ARGUMENTS;WORDS")
  set(folder ${PROJECT_BINARY_DIR}/tests/demo_${name})
  redco_add_test(demo.${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:language_modeling>
    "-DARGUMENTS=${arg_ARGUMENTS};--workdir;${folder}" -DEXIT=${exit} "-DWORDS=${arg_WORDS}" -DFRESH=${folder}
    -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake)
endfunction()
if(REDCO_EXAMPLES AND NOT REDCO_SANITIZE)
  set(text --text;${PROJECT_SOURCE_DIR}/README.md;${PROJECT_SOURCE_DIR}/include/redco/layer)
  redco_demo_test(trains 0 ARGUMENTS ${text} --mesh 1x2 --max-steps 2 --dtype f32 WORDS
    "plan: mesh 1x2, f32" "column-parallel" "peak " "all_reduce" "held-out loss [0-9.]+ nats per byte" "--resume"
    "\nnamespace " "\ntemplate <class T, class")  # samples continue whole prompts of any length
  redco_demo_test(sparse 0 ARGUMENTS ${text} --mesh 1x2 --max-steps 2 --dtype f32 --check-saved --sparse-block 8 WORDS
    "held-out loss [0-9.]+ nats per byte" "\nnamespace " "68.5 M for one token")
  redco_demo_test(sizes 0 ARGUMENTS ${text} --mesh 1x2 --max-steps 1 --dtype f32 --width 96 --layers 2 WORDS
    "wte.weight +.256, 96. +.128, 96." "attn.q.weight x2 ")
  redco_demo_test(width 64 ARGUMENTS ${text} --mesh 1x2 --max-steps 1 --width 100 WORDS "100 features, no multiple of its 6 heads")
  redco_demo_test(sparse_block 64 ARGUMENTS ${text} --sparse-block=-1 WORDS "sparse-block")
  redco_demo_test(illegal_mesh 64 ARGUMENTS ${text} --mesh 1x4 WORDS "1, 2, 3, 6")
  redco_demo_test(unknown_device 64 ARGUMENTS ${text} --device gpu WORDS "--device gpu .*give auto, cpu or cuda")
  redco_demo_test(unknown_option 64 ARGUMENTS ${text} --epoch 2 WORDS "--epochs")
  redco_demo_test(small_batch 64 ARGUMENTS ${text} --mesh 3x1 --global-batch 2 WORDS "global_batch|global batch")
  redco_add_test(demo.own_layer COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:own_layer>
    "-DARGUMENTS=--mesh;1x2;--epochs;2;--check-saved;--workdir;${PROJECT_BINARY_DIR}/tests/demo_own_layer" -DEXIT=0
    "-DWORDS=mean absolute error on new points [0-9.]+;as the facts of its layer state it"
    -DFRESH=${PROJECT_BINARY_DIR}/tests/demo_own_layer -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake)
  # The demo and the recipes in a short form, also with one process per rank, started by mpirun.
  function(redco_demo_of_processes name)
    redco_add_test(processes.${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:language_modeling>
      "-DARGUMENTS=--text;${PROJECT_SOURCE_DIR}/README.md;${PROJECT_SOURCE_DIR}/CHANGELOG.md"
      -DWORK=${PROJECT_BINARY_DIR}/tests/${name}_processes ${ARGN}
      -P ${PROJECT_SOURCE_DIR}/tests/processes/demo.cmake)
  endfunction()
  redco_demo_of_processes(demo ${redco_mpirun} "-DRUNS=2:2x1;4:2x2;2:2x2")
  redco_demo_of_processes(tcp_demo -DSTART=${CMAKE_CURRENT_SOURCE_DIR}/processes/start.py "-DRUNS=2:1x2;2:2x1;2:2x2;2:1x2:overlap")
  # Programs whose ranks are processes verify themselves: each process computes the reference for
  # itself.
  function(redco_verify_test name program processes words)
    redco_add_test(verify.${name} COMMAND ${CMAKE_COMMAND} -DPROCESSES=${processes}
      -DSTART=${CMAKE_CURRENT_SOURCE_DIR}/processes/start.py -DPROGRAM=$<TARGET_FILE:${program}>
      "-DARGUMENTS=--verify;--threads;1;--workdir;${PROJECT_BINARY_DIR}/tests/verify_${name};${ARGN}" -DEXIT=0
      "-DWORDS=${words}" -P ${PROJECT_SOURCE_DIR}/tests/processes/processes.cmake)
  endfunction()
  redco_verify_test(replicas language_modeling 3 "verify: 3x1 and one rank agree in 1 update of" --mesh 3x1
    --verify-steps 1 --global-batch 4 --text ${PROJECT_SOURCE_DIR}/README.md)
  redco_verify_test(shards own_layer 2 "verify: 1x2 and one rank agree in 2 updates" --mesh 1x2)
  redco_verify_test(ppo ppo 2 "verify: 2x1 and one rank agree in 16 updates" --mesh 2x1 --dtype f64 --env cartpole --epochs 1)
  redco_verify_test(pairs classification 2 "verify: 1x2 and one rank agree in 2 updates" --mesh 1x2 --global-batch 5)
  redco_verify_test(worker ddpg 2 "verify: 2x1 and one rank agree in 4 updates" --mesh 2x1 --dtype f64 --warmup 3)
  redco_verify_test(batch_norm mnist 2 "verify: 2x1 and one rank agree in 2 updates" --mesh 2x1 --images 60)
  set(picture_of_ppo episode)
  set(picture_of_ddpg episode)
  foreach(name mnist fedavg classification)
    set(picture_of_${name} confusion)
  endforeach()
  function(redco_recipe_test name result)
    redco_add_test(recipe.${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}> "-DARGUMENTS=${ARGN}"
      "-DRESULT=${result}" "-DPICTURE=${picture_of_${name}}" ${redco_mpirun} -DWORK=${PROJECT_BINARY_DIR}/tests/recipe_${name}
      -P ${PROJECT_SOURCE_DIR}/tests/examples/recipes.cmake)
  endfunction()
  # The first weights have the error 3.99. Weights that learn all sinusoids together reach 3.05.
  redco_recipe_test(maml "after one step (2[.][0-4][0-9]*), of ordinary pretraining 3[.][01]" --steps 1000 --batch 8)
  # The first weights name 10 of 100 digits rightly; with three seeds, 90 to 94 are learnt.
  redco_recipe_test(fedavg "non-iid: ([89][0-9][.0-9]*) of 100" --split non-iid --rounds 90 --examples 1000)
  # The test of meshes below has too few steps to learn. The whole recipe has the bound -250, and
  # three seeds reach -159 to -161.
  redco_add_test(demo.ddpg COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:ddpg>
    "-DARGUMENTS=--dtype;f32;--threads;1;--quiet;--workdir;${PROJECT_BINARY_DIR}/tests/demo_ddpg" -DEXIT=0
    "-DWORDS=mean return of 100 episodes -[12][0-9][0-9][.]" -DFRESH=${PROJECT_BINARY_DIR}/tests/demo_ddpg
    -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake)
  redco_recipe_test(ddpg "mean return of 100 episodes (-[0-9.]+)" --steps 700 --warmup 300 --batch 33)
  redco_recipe_test(mnist "names ([3-9][0-9][.][0-9]+) of 100" --images 600 --epochs 2 --global-batch 8)
  redco_add_test(recipe.mnist_data COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:mnist> -DROOT=${PROJECT_SOURCE_DIR}
    -DWORK=${PROJECT_BINARY_DIR}/tests/recipe_mnist_data -P ${PROJECT_SOURCE_DIR}/tests/examples/mnist.cmake)
  # Without updates (--lr 0) the mean return is 90.
  redco_recipe_test(ppo "cartpole: mean return of 100 episodes ([2-5][0-9][0-9][.0-9]*)" --env cartpole --updates 15
    --epochs 2 --lr 0.003)
  redco_add_test(recipe.ppo_options COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:ppo> "-DARGUMENTS=--updates;2"
    "-DCHANGES=--env cartpole;--updates 3;--epochs 1;--lr 0.01;--clip 0.01;--entropy 0.1"
    -DWORK=${PROJECT_BINARY_DIR}/tests/ppo_options -P ${CMAKE_CURRENT_SOURCE_DIR}/examples/recipe_options.cmake)
  # Environments and helpers of examples/common
  redco_test_executable(test_examples torch examples/environments.cpp)
  redco_add_test(recipe.common COMMAND ${redco_launcher} $<TARGET_FILE:test_examples>
    PROPERTIES ENVIRONMENT "${redco_torch_environment}")
  set(dates --max-target 16 --warmup 30 --lr 4e-3)
  redco_recipe_test(seq2seq "held-out loss ([0-9.]+)" ${dates} --examples 800 --held-out 40 --global-batch 8)
  # A model whose attention learns nothing stays above the bound.
  redco_add_test(demo.seq2seq COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:seq2seq>
    "-DARGUMENTS=${dates};--examples;16000;--held-out;200;--mesh;2x1;--dtype;f32;--workdir;${PROJECT_BINARY_DIR}/tests/demo_seq2seq"
    -DEXIT=0 "-DWORDS=held-out loss 0[.]([0-4]|5[0-2])" -DFRESH=${PROJECT_BINARY_DIR}/tests/demo_seq2seq
    -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake)
  foreach(mesh 1x2 2x1 pp=2)
    redco_verify_test(seq2seq_${mesh} seq2seq 2 "verify: ${mesh} and one rank agree in 2 updates" --mesh ${mesh} --examples 100)
  endforeach()
  # The loss of the first weights is 3.6.
  set(pictures --scenes 60 --held-out 8 --steps 2 --judge-scenes 4)
  redco_recipe_test(text_to_image "held-out loss (0[.][0-5][0-9]+)" ${pictures} --global-batch 3 --warmup 0)
  redco_verify_test(text_to_image text_to_image 2 "verify: 1x2 and one rank agree in 2 updates" --mesh 1x2 --dtype f64 ${pictures})
  redco_add_test(recipe.text_to_image_options COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:text_to_image>
    -DWORK=${PROJECT_BINARY_DIR}/tests/text_to_image_options -P ${CMAKE_CURRENT_SOURCE_DIR}/examples/text_to_image.cmake)
  # A model that does not see the picture stays above 0.69.
  redco_recipe_test(captioning "held-out loss (0[.][0-5][0-9]+)" --examples 1200 --held-out 20 --global-batch 8 --warmup 10)
  redco_verify_test(captioning captioning 2 "verify: 1x2 and one rank agree in 2 updates" --mesh 1x2 --dtype f64 --examples 100 --held-out 8)
  redco_add_test(recipe.captioning_data COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:captioning>
    -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${PROJECT_BINARY_DIR}/tests/captioning_data
    -P ${PROJECT_SOURCE_DIR}/tests/examples/captioning.cmake)
  # Two words of a cyclic order, whose counts do not decide about the label, and texts of two
  # lengths
  set(order "first\tsecond\tlabel\n")
  set(words red green blue)
  foreach(i RANGE 2)
    foreach(j RANGE 2)
      list(GET words ${i} a)
      list(GET words ${j} b)
      math(EXPR distance "(3 + ${j} - ${i}) % 3")
      set(label no)
      if(distance LESS 2)
        set(label yes)
      endif()
      if(NOT i EQUAL j)
        string(APPEND order "${a}\tthen ${b}\t${label}\nnow ${a} is there\tthen ${b}\t${label}\n")
      endif()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/order.tsv CONTENT "${order}" @ONLY)
  set(order ${PROJECT_BINARY_DIR}/tests/order.tsv)
  redco_recipe_test(classification "accuracy 1, loss ([0-9.e-]+), .*word counts 0[.][5-8]" --data ${order} --eval ${order} --text first
    --pair second --global-batch 9 --epochs 60 --warmup 10)
  # The loss of the first weights is 0.693.
  redco_recipe_test(dpo "held-out loss (0[.][0-3][0-9]+)" --pairs 400 --held-out 100 --global-batch 8 --lr 0.01)
  redco_verify_test(dpo dpo 2 "verify: 1x2 and one rank agree in 2 updates" --mesh 1x2 --dtype f64 --pairs 100 --held-out 10)
  redco_add_test(recipe.dpo_options COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:dpo>
    "-DARGUMENTS=--pairs;64;--held-out;8;--global-batch;16;--warmup;0"
    "-DCHANGES=--pairs 80;--held-out 9;--beta 0.2;--context 14;--lr 0.01;--seed 1"
    -DWORK=${PROJECT_BINARY_DIR}/tests/dpo_options -P ${CMAKE_CURRENT_SOURCE_DIR}/examples/recipe_options.cmake)
  redco_add_test(recipe.dpo_numbers COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/examples/dpo.py $<TARGET_FILE:dpo>
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/tests/dpo_numbers)
  # The loss of the first weights is above 2.
  redco_recipe_test(dp_sgd "held-out loss ([01][.][0-9]+)" --examples 3000 --steps 25 --batch 60 --micro-batch 17 --epsilon 80)
  redco_verify_test(dp_sgd dp_sgd 2 "verify: 1x2 and one rank agree in 3 updates" --mesh 1x2 --dtype f64 --examples 200 --batch 9)
  redco_add_test(recipe.dp_sgd_options COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:dp_sgd>
    "-DARGUMENTS=--examples;300;--batch;2;--steps;4"
    "-DCHANGES=--examples 400;--batch 3;--steps 5;--epsilon 4;--delta 1e-4;--clip 0.5;--lr 0.01;--warmup 2;--seed 1"
    -DWORK=${PROJECT_BINARY_DIR}/tests/dp_sgd_options -P ${CMAKE_CURRENT_SOURCE_DIR}/examples/recipe_options.cmake)
  foreach(refused "--epsilon;0;privacy with epsilon 0.0*: give a number above 0"
      "--delta;1;privacy with delta 1.0*: give a probability in .0, 1."
      "--batch;50001;privacy with sampling 1.00002.*: give a probability in .0, 1.")
    list(GET refused 0 option)
    list(GET refused 1 value)
    list(GET refused 2 words)
    string(MAKE_C_IDENTIFIER "dp_sgd${option}" name)
    redco_add_test(recipe.${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:dp_sgd> "-DARGUMENTS=${option};${value}"
      -DEXIT=64 "-DWORDS=${words}" -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake)
  endforeach()
  set(lora ${PROJECT_BINARY_DIR}/tests/lora_model)
  redco_recipe_test(lora "held-out loss ([0-9.]+) with adapters" --model ${lora}/learnt/model --text
    ${PROJECT_SOURCE_DIR}/include/redco/meta --context 64 --hold-out 10 --rank 1 --targets q,v,down --global-batch 16 --epochs 4
    --lr 0.02 --warmup 5 --bound 0.9)
  redco_add_test(recipe.lora_model COMMAND ${CMAKE_COMMAND} -DMAKE_MODELS=$<TARGET_FILE:make_models>
    -DFINE_TUNE=$<TARGET_FILE:fine_tune> -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${lora} -P
    ${PROJECT_SOURCE_DIR}/tests/examples/lora_model.cmake PROPERTIES FIXTURES_SETUP lora_model)
  set_tests_properties(${redco_prefix}recipe.lora PROPERTIES FIXTURES_REQUIRED lora_model FIXTURES_SETUP lora_saved)
  # A LLaMA whose shards, and whose stages, are processes
  foreach(run "2;1x2" "4;pp=2,tp=2")
    list(GET run 0 processes)
    list(GET run 1 mesh)
    redco_verify_test(llama_${processes} fine_tune ${processes} "verify: ${mesh} and one rank agree in 2 updates"
      --mesh ${mesh} --model ${lora}/llama --text ${PROJECT_SOURCE_DIR}/README.md --context 32 --global-batch 6)
    set_tests_properties(${redco_prefix}verify.llama_${processes} PROPERTIES FIXTURES_REQUIRED lora_model)
  endforeach()
  # PEFT reads the adapter that was saved on two shards, if Python has PEFT.
  redco_add_test(outside.peft COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/parity/check_peft.py
    ${lora}/learnt/model ${PROJECT_BINARY_DIR}/tests/recipe_lora/1x2/adapter ${PROJECT_BINARY_DIR}/tests/recipe_lora/1x2/merged
    PROPERTIES FIXTURES_REQUIRED lora_saved)
  set(experts ${PROJECT_BINARY_DIR}/tests/expert_adapters)
  set(mixtral ${PROJECT_SOURCE_DIR}/tests/files/adapters/mixtral)
  redco_test_program(adapt_experts program examples/adapt_experts.cpp)
  redco_add_test(recipe.expert_adapters COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:adapt_experts>
    "-DARGUMENTS=${mixtral};${experts}" -DEXIT=0 -DFRESH=${experts} -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake
    PROPERTIES FIXTURES_SETUP expert_adapters)
  redco_add_test(outside.peft_experts COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/parity/check_peft.py
    ${mixtral} ${experts}/adapter ${experts}/merged PROPERTIES FIXTURES_REQUIRED expert_adapters)
  # The program of docs/first-model.md, word for word.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/first-model.md)
  file(READ ${PROJECT_SOURCE_DIR}/docs/first-model.md page)
  string(REGEX REPLACE ".*\n```cpp\n(.*)\n```\n\n## 3.*" "\\1" program "${page}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/first_model.cpp CONTENT "${program}\n" @ONLY)
  redco_test_program(first_model program ${PROJECT_BINARY_DIR}/tests/first_model.cpp)
  foreach(shards 1 2)
    redco_add_test(demo.first_model_${shards} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:first_model>
      "-DARGUMENTS=--ranks;2;--n-model-shards;${shards};--workdir;${PROJECT_BINARY_DIR}/tests/demo_first_model_${shards}"
      -DEXIT=0 "-DWORDS=right: (9[0-9]|100)" -DFRESH=${PROJECT_BINARY_DIR}/tests/demo_first_model_${shards}
      -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake)
  endforeach()
  redco_test_program(make_models program examples/make_models.cpp)
  # The program of docs/pretrained.md that trains a Hugging Face folder, word for word except for
  # its options.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/pretrained.md)
  file(READ ${PROJECT_SOURCE_DIR}/docs/pretrained.md page)
  string(REGEX REPLACE ".*\n```cpp\n(#include <redco/pretrained.hpp>\n[^`]*)\n```\n.*" "\\1" program "${page}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/page_pretrained.cpp
    CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/examples/page_options.hpp\"\n${program}\n" @ONLY)
  redco_test_program(page_pretrained program ${PROJECT_BINARY_DIR}/tests/page_pretrained.cpp)
  redco_add_test(demo.pretrained COMMAND ${CMAKE_COMMAND} -DPROGRAMS=$<TARGET_FILE_DIR:generate>
    -DMAKE_MODELS=$<TARGET_FILE:make_models> -DPAGE_PROGRAM=$<TARGET_FILE:page_pretrained>
    -DWORK=${PROJECT_BINARY_DIR}/tests/pretrained -P ${PROJECT_SOURCE_DIR}/tests/examples/examples.cmake)
  # The demo's program on several meshes, as in benchmarks/meshes, with other numbers of steps and
  # examples. The recipes compare meshes in f64.
  redco_add_test(demo.meshes_f32 COMMAND ${CMAKE_COMMAND} -E env DTYPE=f32 BATCH=5 TEXT=include/redco/meta
    PROGRAM=$<TARGET_FILE:language_modeling> ${PROJECT_SOURCE_DIR}/benchmarks/meshes 3 1x1 2x1 1x2)
  foreach(dtype f32 f64)
    redco_long_test(meshes_${dtype} COMMAND ${CMAKE_COMMAND} -E env DTYPE=${dtype} BATCH=5
      PROGRAM=$<TARGET_FILE:language_modeling> ${PROJECT_SOURCE_DIR}/benchmarks/meshes 50 1x1 2x1 1x2)
  endforeach()
  redco_add_test(demo.classification COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:classification>
    -DMAKE_MODELS=$<TARGET_FILE:make_models> -DWORK=${PROJECT_BINARY_DIR}/tests/demo_classification
    -P ${PROJECT_SOURCE_DIR}/tests/examples/classification.cmake)
  # Each option of each program shows in the result, the log or a refusal.
  set(options python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/examples/options.py $<TARGET_FILE_DIR:mnist> $<TARGET_FILE:make_models>)
  redco_add_test(recipe.options COMMAND ${options} ${PROJECT_BINARY_DIR}/tests/options_drawn drawn)
  redco_long_test(options COMMAND ${options} ${PROJECT_BINARY_DIR}/tests/options_all all)
  redco_demo_test(no_text 65 ARGUMENTS --text ${PROJECT_SOURCE_DIR}/no_such_file WORDS "no_such_file")
endif()
