"""A user's C++ function and its signature in, the text of a library that calls it for many lanes out."""

from __future__ import annotations

from looplift.ir.kernel_parts import PARTS
from looplift.runtime.signatures import Array, Signature

_ALONE = """\
#include <stdint.h>
#include <stdexcept>
#include <new>
#line 1 "{file}"
{source}
"""

_TEXT = """\
#line 1 "<signature>"
static void (*const looplift_function)({parameters}) = &{name};

static int looplift_noted(const char* text, char* message, int64_t room, int kind) {{
  int64_t k = 0;
  for (; k + 1 < room && text[k]; ++k) message[k] = text[k];
  message[k] = 0;
  return kind;
}}

// Calls the function for the lanes from `first` to `last`; `extent` has the lengths of their dimensions, `step` how far
// one lane of an argument is from the next along each, in elements.
static int looplift_some(int64_t first, int64_t last, int64_t rank, const int64_t* extent, const int64_t* step,
    void* const* data, const bool* active, const int64_t* size, char* message, int64_t room) try {{
  (void)step, (void)data, (void)size;
  for (int64_t lane = first; lane < last; ++lane) {{
    if (active && !active[lane]) continue;
    int64_t place[{count} + 1] = {{}};
    for (int64_t axis = rank - 1, rest = lane; axis >= 0; rest /= extent[axis], --axis)
      for (int k = 0; k < {count}; ++k) place[k] += rest % extent[axis] * step[k * rank + axis];
    looplift_function({arguments});
  }}
  return 0;
}} catch (const std::invalid_argument& error) {{
  return looplift_noted(error.what(), message, room, 2);
}} catch (const std::out_of_range& error) {{
  return looplift_noted(error.what(), message, room, 3);
}} catch (const std::bad_alloc& error) {{
  return looplift_noted("the C++ function found no memory", message, room, 4);
}} catch (const std::exception& error) {{
  return looplift_noted(error.what(), message, room, 1);
}} catch (...) {{
  return looplift_noted("the C++ function threw something that is no std::exception", message, room, 1);
}}

// All lanes. Where one of several threads failed, they run again one by one: the first that fails is to be told.
extern "C" int looplift_lanes(int64_t total, int64_t rank, const int64_t* extent, const int64_t* step,
    void* const* data, const bool* active, const int64_t* size, char* message, int64_t room, int64_t threads) {{
  struct All {{
    int64_t rank;
    const int64_t *extent, *step, *size;
    void* const* data;
    const bool* active;
    int64_t threads;
  }} all{{rank, extent, step, size, data, active, threads}};
  const auto some = [](void* given, int64_t first, int64_t last) -> int {{
    const All& all = *(const All*)given;
    char unread;
    return looplift_some(first, last, all.rank, all.extent, all.step, all.data, all.active, all.size, &unread, 1);
  }};
  const auto allowed = [](void* given) -> int {{ return int(((const All*)given)->threads); }};
  const int outcome = looplift_in_parts(0, total, allowed, some, [](void*) -> int {{ return 0; }}, &all);
  return outcome ? looplift_some(0, total, rank, extent, step, data, active, size, message, room) : 0;
}}
"""


_CUDA = """\
#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
#else
#include <stdint.h>
#endif
#line 1 "{file}"
{source}
#line 1 "<signature>"
// A thread for each lane, as long as there are any. `layout` has how many lanes there are, along how many dimensions,
// whether only `active` ones run, the lengths of the dimensions, how far one lane of an argument is from the next along
// each, in elements, and the sizes.
extern "C" __global__ void looplift_lanes(const int64_t* layout, const bool* active{pointers}) {{
  const int64_t total = layout[0], rank = layout[1], *extent = layout + 3, *step = extent + rank;
  const int64_t* size = step + {count} * rank;
  const int64_t threads = (int64_t)gridDim.x * blockDim.x;
  (void)size;
  for (int64_t lane = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; lane < total; lane += threads) {{
    if (layout[2] && !active[lane]) continue;
    int64_t place[{count}] = {{}};
    for (int64_t axis = rank - 1, rest = lane; axis >= 0; rest /= extent[axis], --axis)
      for (int k = 0; k < {count}; ++k) place[k] += rest % extent[axis] * step[k * rank + axis];
    {name}({arguments});
  }}
}}
"""


def cuda_text(name: str, source: str, signature: Signature, file: str) -> str:
    """CUDA C++ with a kernel ``looplift_lanes`` around a ``__device__`` function of one lane."""
    types = [text.rpartition(" ")[0] for text in signature.cpp_parameters()]
    arrays = [*signature.parameters, *signature.results]
    pointers, arguments = "", []
    for k, (one, kind) in enumerate(zip(arrays, types)):
        pointers += f", {kind if isinstance(one, Array) else f'const {kind}*'} a{k}"
        arguments.append(f"a{k} + place[{k}]" if isinstance(one, Array) else f"a{k}[place[{k}]]")
    arguments += [f"size[{k}]" for k in range(len(signature.sizes))]
    return _CUDA.format(
        source=source, file=_in_quotes(file), pointers=pointers, count=len(arrays), name=name,
        arguments=", ".join(arguments),
    )  # fmt: skip


def _in_quotes(file: str) -> str:
    return file.replace("\\", "/").replace('"', "'")


def alone_text(source: str, file: str) -> str:
    """The user's C++ with what stands in front of it; errors are reported as of ``file``."""
    return _ALONE.format(source=source, file=_in_quotes(file))


def lanes_text(name: str, signature: Signature) -> str:
    """C++, to stand behind the user's, with a function ``looplift_lanes``."""
    types = [text.rpartition(" ")[0] for text in signature.cpp_parameters()]
    arrays = [*signature.parameters, *signature.results]
    arguments = []
    for k, (one, kind) in enumerate(zip(arrays, types)):
        memory = f"({kind if isinstance(one, Array) else f'const {kind}*'})data[{k}] + place[{k}]"
        arguments.append(memory if isinstance(one, Array) else f"*({memory})")
    arguments += [f"size[{k}]" for k in range(len(signature.sizes))]
    return PARTS + _TEXT.format(
        name=name, parameters=", ".join(signature.cpp_parameters()),
        arguments=", ".join(arguments), count=len(arrays),
    )  # fmt: skip
