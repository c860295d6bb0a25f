# Runs the recipe of digits on files in MNIST's format: a folder that it learns, and folders with a
# mistake each.
#   cmake -DPROGRAM=program -DROOT=DIR -DWORK=DIR -P mnist.cmake

file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND python3 ${ROOT}/tests/examples/make_digits.py ${WORK}/data COMMAND_ERROR_IS_FATAL ANY)

function(expect code text)
  execute_process(COMMAND ${PROGRAM} --threads 1 --dtype f32 --global-batch 10 --quiet ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL code OR NOT out MATCHES "${text}")
    message(FATAL_ERROR "${ARGN}: expected exit code ${code} and '${text}', got ${status}:\n${out}")
  endif()
endfunction()

expect(0 "batch norm statistics.*steps +50/50 .*best checkpoint names (9[0-9]|100)[.][0-9]+ of 100" --data ${WORK}/data/good
  --epochs 2 --mesh 2x1 --workdir ${WORK}/good)
expect(0 "steps +3/3 .*best checkpoint names " --images 36 --epochs 1 --workdir ${WORK}/images)  # 30 to train on, 6 held out
expect(64 "--images is 11 .*: give 12 or more" --images 11 --workdir ${WORK}/refused)

# The message is one line, and nothing else is printed.
function(refuse folder text)
  expect(65 "^error: [^\n]*${text}[^\n]*\n$" --data ${WORK}/data/${folder} --workdir ${WORK}/refused)
endfunction()
refuse(nowhere "train-images-idx3-ubyte: No such file")
refuse(missing "t10k-labels-idx1-ubyte: No such file")
refuse(magic "train-images-idx3-ubyte is no IDX file: it begins with the bytes 01 02")
refuse(packed "train-images-idx3-ubyte is .*compressed by gzip: unpack it with gunzip")
refuse(type "train-labels-idx1-ubyte has elements of type i32, not u8")
refuse(truncated "train-images-idx3-ubyte has 235215 bytes, but its shape 300 x 28 x 28 of u8 needs 235216")
refuse(no_bytes "train-labels-idx1-ubyte is no IDX file: it has 0 bytes")
refuse(empty "train-images-idx3-ubyte has no element: its shape is 0 x 28 x 28")
refuse(narrow "train-images-idx3-ubyte has no images of 28 x 28 pixels; give files like those of MNIST")
refuse(swapped "train-images-idx3-ubyte has no images of 28 x 28 pixels")
refuse(fewer_labels "train-labels-idx1-ubyte has 299 labels for 300 images")
refuse(label_over_9 "t10k-labels-idx1-ubyte has a label over 9 at index 7")
refuse(few "train-images-idx3-ubyte has 5 images, fewer than 6")
