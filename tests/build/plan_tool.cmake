# Checks the output and the exit codes of redco-plan.
#   cmake -DTOOL=redco-plan -DWORK=DIR -P plan_tool.cmake

file(REMOVE_RECURSE "${WORK}")
set(sizes "\"model_type\": \"gpt2\", \"vocab_size\": 50257, \"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12")
file(WRITE "${WORK}/config.json" "{${sizes}, \"n_positions\": 1024}")
file(WRITE "${WORK}/heads.json" "{\"model_type\": \"gpt2\", \"vocab_size\": 99, \"n_positions\": 9, \"n_embd\": 50, \"n_head\": 4, \
\"n_layer\": 2}")
file(WRITE "${WORK}/twice.json" "{${sizes}, \"n_positions\": 1024, \"n_ctx\": 512}")
file(WRITE "${WORK}/absurd.json" "{\"model_type\": \"gpt2\", \"vocab_size\": 4611686018427387904}")
file(WRITE "${WORK}/large.json" "{\"model_type\": \"gpt2\", \"vocab_size\": 268435456, \"n_positions\": 268435456, \
\"n_embd\": 268435456, \"n_head\": 1, \"n_layer\": 268435456}")
file(WRITE "${WORK}/mistral.json" "{\"model_type\": \"mistral\"}")
file(WRITE "${WORK}/qwen2.json" "{\"model_type\": \"qwen2\", \"num_attention_heads\": 64}")
file(WRITE "${WORK}/family.json" "{\"model_type\": \"mamba\"}")
file(WRITE "${WORK}/broken.json" "{")

function(expect code text)
  execute_process(COMMAND ${TOOL} ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL code OR NOT out MATCHES "${text}")
    message(FATAL_ERROR "redco-plan ${ARGN}: expected exit code ${code} and '${text}', got ${status}:\n${out}")
  endif()
endfunction()

# The help lists every option in a group, with its default and range.
expect(0 "^usage: redco-plan CONFIG.JSON .OPTIONS.\n[^\n]+\n\ngeneral:\n  --config FILE [^\n]*\n  -h, --help [^\n]*\n\n\
mesh:\n  --n-model-shards INTEGER .*  --hosts INTEGER .*  --zero-owner element.whole .*default element[)]\n\n\
training:\n  --batch INTEGER +examples of one update, over all ranks [(]default 1, 1 or more[)]\n.*\n\n\
computation:\n  --dtype f32.bf16.f64 .*\n\ncommunication:\n  --overlap.*\n\nreport:\n  --device-memory TEXT .*\n\n\
measurement:\n  --calibrate.*  --machine PATH .*redco_machine.json[)]\n*$" --help)
expect(0 "^plan: mesh 1x4, f32, adamw, 1 micro-batch of 8 x 1024\n.*\n +4 +[0-9.]+ GiB  fits\n.*mesh 1x4: fits, "
  config.json --n-model-shards 4 --batch 8 --sequence 1024 --optimizer adamw --device-memory 40GiB)
# Sizes that a config.json leaves out are those of the class in transformers: 8 key-value heads for
# a Mistral, 32 for a Qwen2.
expect(0 "self_attn.k.weight x32 +.1024, 4096. " mistral.json --batch 2 --sequence 8)
expect(0 "self_attn.k.weight x32 +.2048, 4096. " qwen2.json --batch 2 --sequence 8)
expect(1 "   1 +[0-9.]+ GiB  does not fit\n.*mesh 1x1: does not fit, .*\n  largest: activations .*\n  smallest change that fits: \
[24] model shards" config.json --batch 8 --device-memory 3GiB)
# Checks that the suggested change keeps its promise, and that every suggested number of shards is
# legal.
function(follow)
  execute_process(COMMAND ${TOOL} ${ARGN} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE out RESULT_VARIABLE status)
  if(NOT status EQUAL 1 OR NOT out MATCHES "smallest change that fits: [^\n]*[(]([^\n]*)[)], ([^\n]*) on every rank")
    message(FATAL_ERROR "redco-plan ${ARGN} suggests nothing (${status}):\n${out}")
  endif()
  separate_arguments(change UNIX_COMMAND "${CMAKE_MATCH_1}")
  string(REPLACE "." "[.]" bytes "${CMAKE_MATCH_2}")
  if(ARGN MATCHES "--ranks")
    expect(0 "mesh [0-9]+x[0-9]+: fits, ${bytes} of .*" ${ARGN} ${change})
    expect(0 "at most on the same [0-9]+ ranks\n" ${ARGN} ${change})
  else()
    expect(0 ": fits, ${bytes} of " ${ARGN} ${change})
  endif()
endfunction()
follow(config.json --batch 8 --device-memory 3GiB)
follow(config.json --ranks 16 --n-model-shards 1 --batch 32 --device-memory 3GiB)
follow(config.json --ranks 16 --batch 64 --micro-batch 3 --device-memory 2GiB --hosts 2)
follow(config.json --mesh 4x2 --batch 16 --device-memory 1GiB --overlap)
follow(config.json --mesh 6x1 --batch 7 --device-memory 1500MiB --optimizer sgd)
# Checks that every width that is offered in place of an illegal one is legal.
function(follow_widths)
  execute_process(COMMAND ${TOOL} ${ARGN} --n-model-shards 5 WORKING_DIRECTORY ${WORK} ERROR_VARIABLE out RESULT_VARIABLE status)
  if(NOT status EQUAL 64 OR NOT out MATCHES "legal widths are ([0-9, ]+): choose one with --n-model-shards")
    message(FATAL_ERROR "redco-plan ${ARGN} --n-model-shards 5 offers nothing (${status}):\n${out}")
  endif()
  string(REPLACE ", " ";" widths "${CMAKE_MATCH_1}")
  foreach(width IN LISTS widths)
    expect(0 "^plan: mesh [0-9]+x${width}" ${ARGN} --n-model-shards ${width})
  endforeach()
endfunction()
follow_widths(config.json)
follow_widths(config.json --ranks 20 --batch 20)
follow_widths(config.json --ranks 30 --batch 30 --hosts 3)
expect(0 "on the same 16 ranks\n +1 [^\n]*\n +2 [^\n]*\n +4 [^\n]*\ntime" config.json --ranks 16 --batch 32)

expect(0 "mesh 2x3, bf16, sgd, 2 micro-batches of 2 x 64, blocks recomputed" config.json --mesh 2x3 --batch 8 --micro-batch 2
  --dtype bf16 --optimizer sgd --sequence 64 --recompute)
expect(0 "micro-batch of 8 x 64, blocks recomputed .every:2.\n" config.json --batch 8 --sequence 64 --recompute every:2)
expect(0 "micro-batch of 8 x 64\n" config.json --batch 8 --sequence 64 --recompute every:2 --no-recompute)
expect(64 "--recompute: 'second' names no blocks; write all, none, every:2 for every second block" config.json --recompute second)
expect(0 "forward, tokens summed +tp +reduce_scatter +24 x" config.json --n-model-shards 2 --batch 8 --sequence 64 --sequence-parallel)
# Muon gathers six matrices of each of the 12 blocks, and keeps one slot for each.
expect(0 "whole matrices +tp +all_gather +72 x" config.json --n-model-shards 2 --batch 8 --sequence 64 --optimizer muon)
expect(0 "^wte\n  parameter wte.weight .50257, 768.\n.*\n  repeat +12 blocks of #[0-9]+, the first #[0-9]+\n.*logits of #" config.json --batch 2 --facts)
expect(0 "^bytes of one rank, of which [0-9]+ throughout the step\nphase +layer .*\nforward +h.11.ln_1 .*\nloss .*\nbackward +h.11.mlp.*\nupdate +0 "
  config.json --sequence 64 --timeline)
expect(64 "5 model shards do not divide; legal widths are 1, 2, 4: choose" config.json --ranks 20 --n-model-shards 5 --timeline)
expect(0 "\"schema\": \"redco.shard_report\"" config.json --format json)
expect(0 "^plan: mesh 3x2 on 2 hosts, .*\n  forward activations +tp +all_reduce +25 x 384 KiB, sends 9.38 MiB, a host 9.38 MiB to \
others\n.* gradients +dp +all_reduce +1 x 239 MiB, sends 319 MiB, a host 478 MiB to others\n.*at most on the same 6 ranks\n +1 .*\n +2 .*\n \
+3 .*\n +6 [^\n]*\ntime of a step" config.json --mesh 3x2 --hosts 2 --batch 6 --sequence 64 --no-overlap)
expect(0 " gradients +dp +all_reduce +61 x 3.92 MiB, sends 319 MiB, a host 478 MiB to others\n"
  config.json --mesh 3x2 --hosts 2 --batch 6 --sequence 64)
expect(0 " gradients +dp +all_reduce +31 x 7.71 MiB, sends" config.json --mesh 3x2 --hosts 2 --batch 6 --sequence 64 --gradient-bucket 8)
expect(0 " gradients +dp +all_reduce +1 x 239 MiB, sends" config.json --mesh 3x2 --batch 6 --sequence 64)
expect(64 "--gradient-bucket 0: give MiB" config.json --gradient-bucket 0)
expect(0 "\"host_bytes\": [1-9].*\"hosts\": 2" config.json --mesh 3x2 --hosts 2 --batch 6 --sequence 64 --format json)
expect(0 "model shards and what a rank holds at most" config.json --format html --output page.html)
file(READ "${WORK}/page.html" page)
if(NOT page MATCHES "^<!doctype html>.*</html>\n$")
  message(FATAL_ERROR "page.html is no page")
endif()

file(WRITE "${WORK}/vit.json" "{\"model_type\": \"vit\", \"image_size\": 224, \"patch_size\": 16, \"hidden_size\": 768, \
\"intermediate_size\": 3072, \"num_attention_heads\": 12, \"num_hidden_layers\": 12}")
expect(0 "plan: mesh 1x2, f32, adamw, 1 micro-batch of 8 x 1\n" vit.json --n-model-shards 2 --batch 8)
expect(64 "--sequence has no meaning for a model with a fixed input size" vit.json --sequence 9)

file(WRITE "${WORK}/t5.json" "{\"model_type\": \"t5\", \"vocab_size\": 96, \"d_model\": 48, \"d_ff\": 96, \"num_heads\": 4, \
\"d_kv\": 12, \"num_layers\": 2, \"is_encoder_decoder\": true}")
expect(0 "decoder.block...EncDecAttention.q.weight" t5.json --sequence 16 --n-model-shards 2)
expect(0 "micro-batch of 2 x 16 that read 2 x 40" t5.json --batch 2 --sequence 16 --source 40)
expect(64 "--source has no meaning for a model without an encoder" config.json --source 40)
expect(64 "--dtype: 'f16' is not one of f32.bf16.f64" config.json --dtype f16)
expect(64 "--source is 0 .tokens of an encoder's input, .*: give 1 or more" t5.json --sequence 16 --source 0)
expect(64 "--sequence is missing: this model family has no context" t5.json)

expect(64 "no model; write redco-plan config.json")
expect(64 "unknown option --bacth; did you mean --batch" config.json --bacth 8)
expect(64 "h.*attn.q.weight has 12 units, which 5 model shards do not divide; legal widths are 1, 2, 3, 4, 6, 12: choose one with \
--n-model-shards" config.json --n-model-shards 5)
expect(64 "6 ranks cannot hold copies of 4 model shards each" config.json --ranks 6 --n-model-shards 4)
expect(64 "'0x2' is not a mesh" config.json --mesh 0x2)
expect(64 "6 ranks cannot be shared equally by 4 hosts; choose a number of hosts that divides the ranks" config.json --mesh 3x2 --hosts 4)
expect(64 "--hosts is 0 .hosts, each with .*: give 1 or more" config.json --hosts 0)
expect(64 "more than a million ranks" config.json --mesh 65536x65536)
expect(64 "--n-model-shards is -1 .ranks that share one copy of the model.: give 1 or more" config.json --n-model-shards -1)
expect(64 "--batch is 0 .examples of one update, over all ranks.: give 1 or more" config.json --batch 0)
expect(64 "--batch is 268435457: give a number from 1 to 268435456" config.json --batch 268435457)
expect(64 "--sequence 2048 is longer than the model's context of 1024" config.json --sequence 2048)
expect(64 "'40' has no unit; write 40GiB" config.json --device-memory 40)
expect(64 "is not one of adamw.adam.sgd.lion.ademamix.schedule_free.muon" config.json --optimizer sophia)
expect(64 "more bytes than 63 bits can count" config.json --batch 268435456 --micro-batch 1)
expect(65 "no.json: No such file" no.json)
expect(65 "broken.json:1:" broken.json)
expect(65 "heads.json: a width of 50 is not divisible by 4 heads; correct one of them" heads.json)
expect(65 "twice.json: \"n_positions\" is 1024 and \"n_ctx\" is 512, but both say the same" twice.json)
expect(65 "absurd.json: \"vocab_size\" is 4611686018427387904; write an integer from 1" absurd.json)
expect(65 "large.json: the model has more bytes than 63 bits can count; correct its sizes" large.json)
expect(65 "family.json: \"model_type\" is \"mamba\", which is not supported" family.json)
expect(74 "no/page.html: cannot be written" config.json --format html --output no/page.html)

# Keys without effect are listed on standard error, as a run lists them.
file(WRITE "${WORK}/keys.json" "{${sizes}, \"n_positions\": 1024, \"use_cache\": true, \"my_own\": 3}")
execute_process(COMMAND ${TOOL} keys.json --batch 8 --sequence 64 --device-memory 80GB --format json WORKING_DIRECTORY ${WORK}
  OUTPUT_VARIABLE out ERROR_VARIABLE err COMMAND_ERROR_IS_FATAL ANY)
if(NOT err MATCHES "config.json: use_cache, my_own change nothing here\n" OR NOT out MATCHES "^ *{" OR NOT err MATCHES "fits, .* of 74.5 GiB on every rank")
  message(FATAL_ERROR "keys without effect or 80GB: ${err}${out}")
endif()

# --search with a machine file written by hand; nothing is measured.
set(speed "\"operations_per_second\": 1e11, \"activation_bytes_per_second\": 1e10, \"weight_bytes_per_second\": 1e10, \"seconds_per_tensor\": 1e-6")
set(machine "\"version\": 1, \"compute\": [{\"dtype\": \"f32\", \"ranks\": 1, ${speed}}, {\"dtype\": \"bf16\", \"ranks\": 1, ${speed}}], \
\"all_reduce\": [{\"group\": 2, \"ranks\": 2, \"seconds_per_call\": 1e-5, \"bytes_per_second\": 1e9}], \"update_bytes_per_second\": 1e10")
file(WRITE "${WORK}/machine.json" "{\"schema\": \"redco.machine\", ${machine}}")
file(WRITE "${WORK}/linked.json" "{\"schema\": \"redco.machine\", ${machine}, \"links\": [{\"between\": \"hosts\", \"hosts\": 2, \"of\": 2, \
\"hosts_of_machine\": 1, \"seconds_per_call\": 1e-4, \"bytes_per_second\": 1e8, \"busy\": 0.25}]}")
file(WRITE "${WORK}/slow.json" "{\"schema\": \"redco.machine\", ${machine}, \"links\": [{\"between\": \"hosts\", \"hosts\": 2, \"of\": 2, \
\"hosts_of_machine\": 1, \"seconds_per_call\": 1e-4, \"bytes_per_second\": 1e7, \"busy\": 0.25}]}")
file(WRITE "${WORK}/other.json" "{\"schema\": \"redco.other\", ${machine}}")
expect(0 "\ntime of a step: [0-9.]+ m?s, predicted for the measured machine\n" config.json --batch 16 --sequence 256 --machine machine.json)
expect(0 "\ntime of a step: not predicted: .*f64" config.json --sequence 256 --machine machine.json --dtype f64)
expect(0 "\ntime of a step: not predicted: no machine was measured; run redco-plan --calibrate\n" config.json --sequence 256)
expect(0 "<h2>What fits</h2>.*<p>Time of a step: [0-9.]+ m?s, predicted" config.json --format html --sequence 256 --machine machine.json)
set(search config.json --batch 16 --sequence 256 --ranks 2 --search --machine machine.json)
expect(0 "^2 ranks, 16 x 256 a step: [0-9]+ plans fit 8.00 GiB on every rank; step times are predicted\nmesh +zero +micro-batch  dtype +\
recompute +tokens +peak +step time\n[12]x[12] .*\nrun: --mesh [12]x[12] (--zero [1-3] )?--dtype b?f(16|32) --global-batch 16 --micro-batch [0-9]+(, of the model as \
redco::models::sequence_parallel)?\n$" ${search} --device-memory 8GiB)
# Two replicas have 24 plans at each level of ZeRO. One replica shares nothing out.
expect(0 "^2 ranks, 16 x 256 a step: 264 plans; step times are predicted\n.*\n2x1 +[123] " ${search})
expect(0 "^2 ranks, 16 x 256 a step: 192 plans; step times are predicted\nmesh +micro-batch " ${search} --zero 0)
expect(0 "^2 ranks on 2 hosts, 16 x 256 a step: 264 plans; step times are predicted" ${search} --machine linked.json --hosts 2)
expect(0 "step: 192 plans; .*\n2x1 +3 .*\nrun: --mesh [12]x[12] --zero 3 --zero-keep 12 --dtype" ${search} --zero 3 --zero-keep 12)
expect(64 "--zero-keep 13: the model has 12 blocks; give 0 to 12" ${search} --zero 3 --zero-keep 13)
expect(64 "--zero-keep 3 with --zero 0: only with --zero 3" ${search} --zero-keep 3)
expect(0 "step: 192 plans; " ${search} --optimizer muon)
expect(0 "^14 ranks on 2 hosts, 14 x 64 a step: [0-9]+ plans; [^\n]*\nmesh +schedule +zero +micro-batch [^\n]*\npp=7,[^\n]*\n.*\n\
run: --mesh pp=7,tp=2 (--schedule [a-z]+ )?(--chunks-per-stage [0-9] )?--zero 1 --dtype" config.json --batch 14 --sequence 64 --ranks 14 --hosts 2 --zero 1
  --search --machine slow.json)
expect(64 "2 ranks cannot be shared equally by 3 hosts" ${search} --machine linked.json --hosts 3)
expect(65 "no link between hosts was measured; run mpirun -n 2 redco-plan --calibrate, a process on each of them" ${search} --hosts 2)
expect(1 "^no plan fits 512 MiB on every rank .2 ranks, 16 x 256 a step.; the smallest peak is\n.*\n1x2 +1  b?f[0-9]+ +all +split[^\n]*\nnot tried: meshes with cp" ${search}
  --device-memory 512MiB)
expect(64 "a global batch of 7 cannot be shared equally by 26 ranks, of which 1, 2 hold one copy of the model; choose a batch that 13 divides"
  config.json --batch 7 --sequence 256 --ranks 26 --search --machine machine.json)
expect(64 "--search tries all meshes and settings and prints a table; leave --sequence-parallel out" ${search} --sequence-parallel)
expect(64 "--search tries all meshes and settings and prints a table; leave --dtype out" ${search} --dtype f32)
expect(64 "redco_machine.json does not exist; measure it first: redco-plan --calibrate --machine redco_machine.json" config.json --search)
expect(65 "other.json: is no machine file: its schema is not .redco.machine.; write the file anew with redco-plan --calibrate"
  config.json --search --machine other.json)
expect(64 "--calibrate measures the machine and takes --machine only; leave --batch out" --calibrate --batch 8)
expect(64 "takes no model; leave config.json out" config.json --calibrate)

# --calibrate without redco-calibrate in the folder of redco-plan.
file(COPY "${TOOL}" DESTINATION "${WORK}/alone")
get_filename_component(name "${TOOL}" NAME)
set(TOOL "${WORK}/alone/${name}")
expect(64 "alone/redco-calibrate cannot be run; build it next to redco-plan: cmake --build build/release --target redco-calibrate"
  --calibrate)

# Pipelines, which need no model.
expect(0 "^1f1b, 2 stages, 3 micro-batches:\n  stage 0: 0F0 0F1 0B0 0F2 0B1 0B2\n  stage 1: 1F0 1B0 1F1 1B1 1F2 1B2\n  \
idle 25.0% of 12 units of time; chunks in flight per stage: 2, 1\n$"
  --schedule 1f1b --n-pipeline-stages 2 --batch 6 --micro-batch 2)
expect(0 "^interleaved, 2 stages, 4 micro-batches:\n.*idle 7.7%" --schedule interleaved --n-pipeline-stages 2 --batch 4 --micro-batch 1
  --chunks-per-stage 3)
expect(0 "^$" --schedule v-half --n-pipeline-stages 3 --batch 4 --micro-batch 1 --output v.svg)
file(READ "${WORK}/v.svg" picture)
if(NOT picture MATCHES "^<svg .*v-half, 3 stages, 4 micro-batches")
  message(FATAL_ERROR "--schedule draws no picture:\n${picture}")
endif()
file(WRITE "${WORK}/mine.csv" "0F0,0B0\n1F0,1B0\n")
expect(0 "^mine.csv, 2 stages, 1 micro-batches:" --schedule mine.csv)
file(WRITE "${WORK}/wrong.csv" "0F0,0B0\n1F0,1Q0\n")
expect(65 "^wrong.csv:2: \"1Q0\" is no computation" --schedule wrong.csv)
expect(64 "--schedule 1f2b is no file; give one of gpipe, 1f1b, interleaved, zb-h1, v-half, or the path of a file" --schedule 1f2b)
expect(64 "--schedule interleaved needs a number of micro-batches that is a multiple of its stages, but there are 2 stages, 3 micro-batches"
  --schedule interleaved --n-pipeline-stages 2 --batch 3 --micro-batch 1)
expect(64 "leave --batch out" --schedule mine.csv --batch 4)
expect(64 "leave --n-model-shards out" --schedule gpipe --n-model-shards 2)
expect(64 "--schedule gpipe has no meaning for a run with one pipeline stage" config.json --schedule gpipe)

# Runs whose replicas keep shares of the optimizer's state.
set(shares config.json --batch 16 --micro-batch 2 --sequence 64 --ranks 4 --dtype bf16)
expect(0 "^plan: mesh 4x1, bf16, adamw, 2 micro-batches of 2 x 64, zero 1\n.*gradients +dp +reduce_scatter.*parameters +dp +all_gather"
  ${shares} --zero 1)
expect(0 "\"zero\": 1" ${shares} --zero 1 --format json)
# Each of the two micro-batches sums its gradients.
expect(0 "zero 2\n.*gradients +dp +reduce_scatter +120 x 3.96 MiB.*parameters +dp +all_gather +60 x 3.96 MiB"
  ${shares} --zero 2)
expect(0 "zero 2\n.*gradients +dp +reduce_scatter +1 x .*parameters +dp +all_gather +1 x " ${shares} --zero 2 --n-pipeline-stages 2)
# Tables and last norm in 19 buckets of 4 MiB are gathered once, and so are the four buckets of a
# kept block. Other blocks are gathered four times in two micro-batches, but the first one three
# times, and the last one twice.
expect(0 "zero 3\n.* gathered +88.6 MiB\n.*gradients +dp +reduce_scatter +134 x [0-9.]+ MiB.*parameters +dp +all_gather +199 x "
  ${shares} --zero 3)
expect(0 "zero 3, 2 blocks kept\n.* gathered +116 MiB\n.*parameters +dp +all_gather +179 x " ${shares} --zero 3 --zero-keep 2)
expect(0 "\"zero\": 3,\n +\"zero_keep\": 12\n" ${shares} --zero 3 --zero-keep 12 --format json)
expect(0 "\nphase +layer +activations +recomputed +gradients +loss +gathered +total\n" ${shares} --zero 3 --timeline)
expect(64 "--zero-keep 13: the model has 12 blocks; give 0 to 12" ${shares} --zero 3 --zero-keep 13)
expect(64 "--zero-keep 1 with --zero 2: only with --zero 3" ${shares} --zero 2 --zero-keep 1)
expect(64 "--zero-keep is -1 .*: give 0 or more" ${shares} --zero 3 --zero-keep -1)
expect(0 "zero 3\n.*gradients +dp +reduce_scatter +10 x .*parameters +dp +all_gather +68 x " ${shares} --zero 3 --n-pipeline-stages 2)
expect(64 "--zero 4 is no level of ZeRO" ${shares} --zero 4)
expect(64 "zero 1: the optimizer updates whole matrices.*choose --zero-owner whole" ${shares} --zero 1 --optimizer muon)
set(owners ${shares} --zero 1 --zero-owner whole --optimizer muon)
expect(0 "^plan: mesh 4x1, bf16, muon, [^\n]*, zero 1 with whole matrices\n.*gradients +dp +reduce_scatter.*parameters +dp +all_gather"
  ${owners})
expect(0 "\"zero_owner\": \"whole\"" ${owners} --format json)
expect(64 "--overlap with --zero-owner whole" ${owners} --overlap)
expect(64 "--zero-owner whole without --zero" ${shares} --zero-owner whole)
expect(0 "zero 1 with whole matrices in groups of 2 replicas\n.*gradients +ds +reduce_scatter.*gradients +dp.*all_reduce.*parameters +ds +all_gather"
  ${owners} --zero-within 2)
foreach(level 2 3)
  expect(0 "zero ${level} with whole matrices\n.*gradients +dp +reduce_scatter" ${shares} --zero ${level} --zero-owner whole --optimizer muon)
endforeach()
expect(64 "--zero-owner.*element.whole" ${shares} --zero 1 --zero-owner matrix)

# Runs with pipeline stages.
set(staged config.json --batch 16 --micro-batch 2 --sequence 64)
expect(0 "^plan: mesh pp=4,dp=2,tp=2, f32, adamw, 4 micro-batches of 2 x 64\n.*pipeline stages, schedule 1f1b\n +stage [^\n]*\n \
+0 +0-2 [^\n]* 4 +384 KiB, 0 B [^\n]*\n +1 [^\n]* 3 +384 KiB, 384 KiB [^\n]*\n +2 [^\n]* 2 [^\n]*\n +3 [^\n]* 1 +0 B, 384 KiB \
.*bytes of one rank of stage [0-3], which needs most\n.*activations of stages +pp +send +4 x 384 KiB"
  ${staged} --mesh pp=4,dp=2,tp=2)
expect(0 "mesh pp=3,dp=2,.*\n +0 +0-6 [^\n]*\n +1 +7-10 [^\n]*\n +2 +11 " ${staged} --n-pipeline-stages 3 --ranks 6 --stages 7,4,1)
expect(0 " activations of stages +pp +send +4 x 192 KiB, .* gathers of stages +tp +all_gather +[48] x 384 KiB" ${staged}
  --mesh pp=4,dp=2,tp=2 --hosts 4)
expect(0 "schedule gpipe\n.*\n +0 [^\n]* 8 +[^\n]*\n +1 [^\n]* 8 +" ${staged} --n-pipeline-stages 2 --schedule gpipe)
expect(1 "mesh pp=2: does not fit, a rank holds" ${staged} --n-pipeline-stages 2 --device-memory 100MiB)
expect(0 "\"pp\": 2,.*\"stages\": .*\"in_flight\": 2," ${staged} --n-pipeline-stages 2 --format json)
expect(0 "<h2>Pipeline stages</h2>" ${staged} --n-pipeline-stages 2 --format html)
expect(0 "## Pipeline stages, schedule 1f1b" ${staged} --n-pipeline-stages 2 --format md)
expect(64 "stages 7,4: the model has 12 blocks and the run 3 pipeline stages; give 3 numbers" ${staged} --n-pipeline-stages 3 --stages 7,4)
expect(64 "the model has 12 blocks for 13 stages; give 1 to 12 stages" ${staged} --n-pipeline-stages 13)
expect(64 "'x' is no number of blocks" ${staged} --n-pipeline-stages 2 --stages 3,x)
expect(64 "5 ranks cannot form 2 equal pipeline stages" ${staged} --n-pipeline-stages 2 --ranks 5)
expect(64 "has 2 pipeline stages and --n-pipeline-stages 3; give one" ${staged} --mesh pp=2,tp=2 --n-pipeline-stages 3)
expect(0 "schedule interleaved, 2 chunks per stage\n.*\n +0 +0-2 7-10 [^\n]* 5 +[^\n]*\n.*activations of stages +pp +send +16 x 384 KiB"
  ${staged} --n-pipeline-stages 2 --schedule interleaved)
expect(0 "schedule v-half, 2 chunks per stage\n" ${staged} --n-pipeline-stages 2 --schedule v-half)
expect(64 "schedule interleaved needs a number of micro-batches that is a multiple of its stages, but there are 3 stages, 8 micro"
  ${staged} --n-pipeline-stages 3 --schedule interleaved)
expect(0 "schedule of a file\n" config.json --sequence 64 --n-pipeline-stages 2 --schedule mine.csv)
expect(64 "the schedule has 2 stages, 2 chunks of blocks and 1 micro-batches, the run 2, 2 and 8" ${staged} --n-pipeline-stages 2
  --schedule mine.csv)
expect(0 "^stage 0: bytes of one rank, of which [0-9]+ throughout the step\n +begins +ends  work [^\n]*\n +0.0 % +[0-9.]+ %  forward +0 +0-8 \
[^\n]*\n[^\n]*  send +0  393216 to stage 1\n.*\n\nstage 1: .*  wait +0  for stage 0\n.*  receive +7  393216 from stage 0, total [0-9]+\n.*  send +7  393216 to stage 0\n$"
  ${staged} --n-pipeline-stages 2 --timeline)
expect(0 "^stage 0: .* [0-9.]+ s +[0-9.]+ s  backward +7 +0-8 " ${staged} --n-pipeline-stages 2 --timeline --machine machine.json)
expect(64 "--chunks-per-stage has no meaning for a run with one pipeline stage" ${staged} --chunks-per-stage 2)
expect(64 "schedule 1f1b needs one chunk per stage" ${staged} --n-pipeline-stages 2 --chunks-per-stage 2)
expect(0 "time of a step: [0-9.]+ m?s, predicted for the measured machine, stages idle [0-9]+ %\n" ${staged} --n-pipeline-stages 2
  --machine machine.json)
