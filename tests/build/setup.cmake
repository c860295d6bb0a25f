# Checks scripts/setup with a user's libtorch, in a copy: right, wrong, called twice; files that an
# interruption left; and packages for tests that are not available.
#   cmake -DROOT=DIR -DTORCH_ROOT=DIR -DWORK=DIR -P setup.cmake

file(REMOVE_RECURSE ${WORK})
file(COPY ${ROOT}/scripts DESTINATION ${WORK})

function(setup expected text)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ARGN} ${WORK}/scripts/setup ${options}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL expected OR NOT out MATCHES "${text}")
    message(FATAL_ERROR "setup with ${ARGN}: expected status ${expected} and '${text}', got ${status}:\n${out}")
  endif()
endfunction()

# Without an index pip downloads no minja. Outside CI setup reports this and continues; in CI it is
# an error. With its header there is nothing to download.
set(no_index REDCO_TORCH_ROOT=${TORCH_ROOT} PIP_NO_INDEX=1 PIP_RETRIES=0 --unset=PIP_FIND_LINKS)
setup(0 "pip could not download llama-cpp-python.*redco will lack the functions that need it.*setup: ready" ${no_index} --unset=CI)
setup(74 "pip could not download llama-cpp-python" ${no_index} CI=true)
file(WRITE ${WORK}/.deps/minja/include/minja/minja.hpp "")

setup(0 "setup: ready" REDCO_TORCH_ROOT=${TORCH_ROOT})
if(EXISTS ${WORK}/.deps/python)
  message(FATAL_ERROR "setup fetched a libtorch although REDCO_TORCH_ROOT names one")
endif()
# A second run has nothing to do: it calls neither apt nor pip.
foreach(tool apt-get sudo pip pip3)
  file(WRITE ${WORK}/calls/${tool} "#!/bin/sh\necho ${tool} >> ${WORK}/called\nexit 1\n")
  file(CHMOD ${WORK}/calls/${tool} PERMISSIONS OWNER_READ OWNER_EXECUTE)
endforeach()
setup(0 "setup: ready" REDCO_TORCH_ROOT=${TORCH_ROOT} PATH=${WORK}/calls:$ENV{PATH} PIP_NO_INDEX=1)
if(EXISTS ${WORK}/called)
  file(READ ${WORK}/called called)
  message(FATAL_ERROR "a setup with nothing to do called ${called}")
endif()
setup(65 "has no lib/libtorch_cpu.so" REDCO_TORCH_ROOT=${WORK})

# A libtorch without the mark of the installation and with missing files must not count as complete.
# pip cannot fetch another one, so setup must fail and say what to do.
set(names torch-2.11.0 nvidia_cuda_runtime-13.0.96 nvidia_cuda_cupti-13.0.85)
foreach(name IN LISTS names)
  file(WRITE ${WORK}/.deps/python/${name}.dist-info/RECORD "torch/${name}.so,sha256=x,4\r\n")
  file(WRITE ${WORK}/.deps/python/torch/${name}.so "1234")
endforeach()
file(WRITE ${WORK}/.deps/python/torch/torch-2.11.0.so "12")
setup(74 "run scripts/setup again" --unset=REDCO_TORCH_ROOT PIP_NO_INDEX=1 PIP_RETRIES=0)
file(WRITE ${WORK}/.deps/python/torch/torch-2.11.0.so "1234")
setup(0 "found a complete libtorch" --unset=REDCO_TORCH_ROOT PIP_NO_INDEX=1 PIP_RETRIES=0)

# Without an index pip installs nothing. Outside CI setup reports this and continues; in CI it is an
# error.
set(nothing REDCO_TORCH_ROOT=${TORCH_ROOT} REDCO_CHROMIUM=/no/chromium PIP_NO_INDEX=1 --unset=PIP_FIND_LINKS)
set(options --tests)
setup(0 "pip could not install tensorboard.*the tests that need it will be skipped.*setup: ready" ${nothing} --unset=CI)
setup(74 "pip could not install tensorboard" ${nothing} CI=true)
set(options --test)
setup(64 "unknown option --test; there are --tests, --folders, --cuda, --docs and --peers" ${nothing})

# transformers for model folders: only with setup's own libtorch; a failure is an error only in CI.
set(options --folders)
setup(0 "REDCO_TORCH_ROOT may hold no torch of Python.*setup: ready" ${nothing} --unset=CI)
setup(74 "REDCO_TORCH_ROOT may hold no torch of Python" ${nothing} CI=true)

# CUDA's libraries: those in the requirements of libtorch's wheel, in its folder and never in a
# libtorch of the user.
set(options --cuda)
setup(64 "REDCO_TORCH_ROOT is set: scripts/setup installs CUDA libraries only" ${nothing})
file(WRITE ${WORK}/.deps/python/torch-2.11.0.dist-info/METADATA "Name: torch\nRequires-Dist: sympy>=1.13.3\n\
Requires-Dist: cuda-toolkit[cublas,nvrtc]==13.0.2; platform_system == \"Linux\"\n\
Requires-Dist: nvidia-nccl-cu13==2.28.9; platform_system == \"Linux\"\nRequires-Dist: triton==3.6.0\n")
setup(74 "pip could not install cuda-toolkit.cublas,nvrtc.==13.0.2 nvidia-nccl-cu13==2.28.9: see" --unset=REDCO_TORCH_ROOT
  PIP_NO_INDEX=1 PIP_RETRIES=0)
