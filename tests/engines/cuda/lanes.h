// Warps of 32 threads on a processor: what CUDA supplies, for kernels compiled as C++. The lanes of a warp take turns:
// each runs until the whole warp must meet. Where not all of them arrive at the same meeting, the program ends.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <cmath>
#include <cstring>
using std::fabs; using std::fmax; using std::fmin; using std::rint;

#define __device__ static
#define __global__
#define __shared__
namespace emulated {
struct Place { long long x; };
static Place threadIdx, blockIdx, blockDim = {128};
static const int LANES = 32, STACK = 1 << 16;
static jmp_buf turns[LANES], conductor;
static ucontext_t begun[LANES], back;
static char stacks[LANES][STACK];
static int now, meeting[LANES];
static long long values[LANES];
static void (*work)(void*);
static void* given;
enum { RUNS = 0, DONE = -1 };

static void lane_begins() {
  work(given);
  meeting[now] = DONE;
  _longjmp(conductor, 1);
}

static void meet(int what) {
  meeting[now] = what;
  if (!_setjmp(turns[now])) _longjmp(conductor, 1);
}

// One turn after the other, upwards or downwards: what depends on it is a race.
static void run_warp(bool upwards) {
  volatile bool is_first = true;
  while (true) {
    for (volatile int turn = 0; turn < LANES; turn++) {
      now = upwards ? turn : LANES - 1 - turn;
      threadIdx.x = threadIdx.x / LANES * LANES + now;
      if (_setjmp(conductor)) continue;
      if (!is_first) _longjmp(turns[now], 1);
      getcontext(&begun[now]);
      begun[now].uc_stack.ss_sp = stacks[now];
      begun[now].uc_stack.ss_size = STACK;
      begun[now].uc_link = &back;
      makecontext(&begun[now], lane_begins, 0);
      setcontext(&begun[now]);
    }
    is_first = false;
    for (int lane = 1; lane < LANES; lane++)
      if (meeting[lane] != meeting[0]) {
        fprintf(stderr, "lanes 0 and %d part: %d, %d\n", lane, meeting[0], meeting[lane]);
        abort();
      }
    if (meeting[0] == DONE) return;
  }
}

template <class Kernel> static void run_threads(long long threads, Kernel kernel) {
  given = &kernel;
  work = [](void* one) { (*(Kernel*)one)(); };
  for (long long warp = 0; warp * LANES < threads; warp++) {
    blockIdx.x = warp * LANES / blockDim.x;
    threadIdx.x = warp * LANES % blockDim.x;
    run_warp(warp % 2 == 0);
  }
}
}
using emulated::threadIdx; using emulated::blockIdx; using emulated::blockDim;
double shared_by_block[4 * 32 * 1024 / 8];
#define KERNEL(name, ...) extern "C" void name(long long emu_threads, __VA_ARGS__) { emulated::run_threads(emu_threads, [&]()
#define END ); }

static inline void __syncwarp() { emulated::meet(1); }
template <class T> static T exchanged(T x, int lane, int what) {
  memcpy(&emulated::values[emulated::now], &x, sizeof(T));
  emulated::meet(what);
  T result;
  memcpy(&result, &emulated::values[lane], sizeof(T));
  emulated::meet(what);
  return result;
}
template <class T> static T __shfl_xor_sync(unsigned, T x, int mask) { return exchanged(x, emulated::now ^ mask, 2); }
template <class T> static T __shfl_sync(unsigned, T x, int lane) { return exchanged(x, lane, 3); }
static unsigned __ballot_sync(unsigned, bool p) {
  emulated::values[emulated::now] = p;
  emulated::meet(4);
  unsigned result = 0;
  for (int lane = 0; lane < emulated::LANES; lane++) result |= (unsigned)emulated::values[lane] << lane;
  emulated::meet(4);
  return result;
}
static bool __any_sync(unsigned, bool p) { return __ballot_sync(~0u, p) != 0; }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static long long __double_as_longlong(double x) { long long r; memcpy(&r, &x, 8); return r; }
static double __longlong_as_double(long long x) { double r; memcpy(&r, &x, 8); return r; }
template <class T> static T __ldg(const T* p) { return *p; }
template <class T> static T atomicCAS(T* p, T c, T v) { T o = *p; if (o == c) *p = v; return o; }
template <class T> static T atomicMin(T* p, T v) { T o = *p; if (v < o) *p = v; return o; }
template <class T> static T atomicMax(T* p, T v) { T o = *p; if (v > o) *p = v; return o; }
template <class T> static T atomicAdd(T* p, T v) { T o = *p; *p += v; return o; }
