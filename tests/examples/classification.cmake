# Runs examples/classification on files, also on wrong ones, and on model folders.
#   cmake -DPROGRAM=path -DMAKE_MODELS=program -DWORK=DIR -P classification.cmake

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
function(expect code text)
  execute_process(COMMAND "${PROGRAM}" --dtype f32 --threads 1 --quiet --resume none --workdir "${WORK}/run" ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL code OR NOT out MATCHES "${text}")
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "${words}: expected exit code ${code} and '${text}', got ${status}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

# Labels are names or whole numbers, in each kind of file; --eval and --pair are optional.
set(tsv "s1\tn\ts2\tgold\n")
set(csv "text,label\n")
set(jsonl "")
foreach(i RANGE 1 12)
  string(APPEND tsv "a \"cat\tx\tsees a dog no ${i}\tyes\na dog\tx\tsees a cat no ${i}\tno\n")
  string(APPEND csv "\"good, very good ${i}\",3\nbad ${i},-1\n")
  string(APPEND jsonl "{\"text\": \"good ${i}\", \"label\": 2.5}\n{\"label\": \"-1e0\", \"text\": \"bad\"}\n")
endforeach()
file(WRITE "${WORK}/train.tsv" "${tsv}")
file(WRITE "${WORK}/train.csv" "${csv}")
file(WRITE "${WORK}/train.jsonl" "${jsonl}")
set(short --epochs 2 --global-batch 8 --max-tokens 16)
set(pairs --text s1 --pair s2 --label gold)
expect(0 "labels: no, yes\n.*accuracy [0-9.]+, loss .*accuracy of a linear model" ${short} --data "${WORK}/train.tsv" ${pairs} --mesh 2x1)
expect(0 "labels: -1, 3\n.*macro_f1 " ${short} --data "${WORK}/train.csv" --eval "${WORK}/train.csv")
expect(0 "labels: label\n.*pearson [0-9.]+.*spearman [0-9.]+" ${short} --epochs 20 --lr 0.003 --task regression --data "${WORK}/train.jsonl"
  --eval "${WORK}/train.jsonl")

# A saved classifier is a finished model; --new-head replaces its head.
expect(0 "accuracy 1, .*accuracy of a linear model" --epochs 30 --lr 0.003 --global-batch 8 --max-tokens 16 --data "${WORK}/train.tsv" ${pairs})
file(RENAME "${WORK}/run/model" "${WORK}/saved")
set(saved --model "${WORK}/saved" --data "${WORK}/train.tsv" ${pairs} --global-batch 8)
expect(0 "labels: no, yes\n.*accuracy 1, " ${saved} --epochs 0)
expect(0 "labels: no, yes\n.*accuracy 1, " ${saved} --epochs 0 --mesh 1x2)
expect(0 "classifier.*labels: no, yes\n" ${saved} --epochs 0 --new-head)
expect(65 "saved has a head with 2 outputs, for classification; add --new-head" ${saved} --task regression --label n)
expect(65 "train.csv:2: column .label.: .3. is none of the 2 labels no, yes; correct it" --model "${WORK}/saved"
  --data "${WORK}/train.csv")
execute_process(COMMAND "${MAKE_MODELS}" "${WORK}/models" COMMAND_ERROR_IS_FATAL ANY)
expect(65 "train.tsv:2: column .gold.: .yes. is none of the 2 labels LABEL_0, LABEL_1" --model "${WORK}/models/roberta"
  --data "${WORK}/train.tsv" ${pairs})
expect(0 "labels: no, yes\n.*macro_f1 " --model "${WORK}/models/roberta" --new-head --data "${WORK}/train.tsv" ${pairs} ${short})
expect(0 "labels: no, yes\n.*macro_f1 " --model "${WORK}/run/model" --data "${WORK}/train.tsv" ${pairs} ${short} --mesh 1x2)
expect(65 "llama, which this program does not run; give one of bert, roberta" --model "${WORK}/models/llama" --data "${WORK}/train.csv")

# Scores need two examples.
file(WRITE "${WORK}/single.csv" "text,label\ngood,3\n")
expect(65 "one example to measure, and scores need two" ${short} --data "${WORK}/train.csv" --eval "${WORK}/single.csv")

# Wrong data are one sentence with the file and the line.
file(WRITE "${WORK}/empty.csv" "")
file(WRITE "${WORK}/header.csv" "text,label\n")
file(WRITE "${WORK}/one.csv" "text,label\na,yes\nb,yes\n")
file(WRITE "${WORK}/few.csv" "text,label\na,yes\nb,no\n")
file(WRITE "${WORK}/unlabelled.csv" "text,label\na,yes\nb,\n")
file(WRITE "${WORK}/eval.csv" "text,label\na,1\n\nb,maybe\n")
file(WRITE "${WORK}/cut.csv" "text,label\na,yes\n\"b,no\nc,no\n")
file(WRITE "${WORK}/damaged.csv" "text,label\na,yes\nb\n")
file(WRITE "${WORK}/damaged.jsonl" "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\", \"lab")
file(WRITE "${WORK}/key.jsonl" "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\", \"class\": 1}\n")
foreach(case
    "nothing.csv=nothing.csv: No such file"
    "empty.csv=empty.csv has no header"
    "header.csv=header.csv has no row after its header"
    "one.csv=one.csv has only the label .yes.; give examples of two labels"
    "unlabelled.csv=unlabelled.csv:3: column .label.: .. is no label"
    "cut.csv=cut.csv:3: the quote that opens column .text. is not closed"
    "damaged.csv=damaged.csv:3: 1 field instead of the 2 of the header"
    "damaged.jsonl=damaged.jsonl:2:"
    "key.jsonl=key.jsonl:2: no key .label. among .text., .class."
    "train.tsv=train.tsv:1: no column .text. among .s1., .n., .s2., .gold."
    "saved/config.json=config.json ends in neither .csv, .tsv nor .jsonl")
  string(REGEX MATCH "^([^=]*)=(.*)$" case "${case}")
  expect(65 "error: [^\n]*${CMAKE_MATCH_2}" --data "${WORK}/${CMAKE_MATCH_1}" --eval "${WORK}/train.csv")
endforeach()
expect(65 "few.csv has 2 rows, too few to hold out every 10th" --data "${WORK}/few.csv")
expect(65 "train.csv:1: no column .second. among .text., .label." --data "${WORK}/train.csv" --pair second)
expect(65 "eval.csv:4: column .label.: .maybe. is none of the 2 labels -1, 3" --data "${WORK}/train.csv" --eval "${WORK}/eval.csv")
expect(65 "eval.csv:4: column .label.: .maybe. is no number" --task regression --data "${WORK}/train.csv" --eval "${WORK}/eval.csv")
expect(64 "--task ranking: give classification or regression" --task ranking)
expect(64 "--max-tokens is 7 .*: give 8 or more" --max-tokens 7)
expect(1 "accuracy of a linear model" --pairs 100)
