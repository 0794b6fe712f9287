// warpcheck for kernels written in C++: everything that a user includes. In GoogleTest suites frontends/cpp/gtest.h.
//
//   Kernel   (kernel.h)   a launch: memory, barriers, threads and their code
//   Thread   (thread.h)   what that code may do
//   Array, Slice, ...     (handles.h) what it names memory by
//   check    (result.h)   explores it
#pragma once

#include "frontends/cpp/handles.h"
#include "frontends/cpp/kernel.h"
#include "frontends/cpp/result.h"
#include "frontends/cpp/thread.h"
