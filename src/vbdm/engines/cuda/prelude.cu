// What all kernels share. They are compiled by NVRTC for the device, without fused multiply-adds, so that distances
// have the bits that the processor gives them; and by a C++ compiler with -DEMU for tests, where a kernel is a loop
// over threads, each alone in its warp.
//
//   KERNEL(name, arguments…) { … TID, LANE, WARP … return; … } END
typedef long long i64;
typedef unsigned long long u64;
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)

#ifdef EMU
#include <cmath>
#include <cstring>
using std::fmax; using std::fmin; using std::fabs; using std::rint;
static i64 emu_tid = 0;
#define KERNEL(name, ...)                                  \
  extern "C" void name(i64 emu_threads, __VA_ARGS__) {     \
    for (emu_tid = 0; emu_tid < emu_threads; emu_tid++) {  \
      [&]()
#define END () ; } }
#define DEVICE static inline
#define TID emu_tid
#define WARP_SIZE 1
static inline double warp_max(double x) { return x; }
static inline double warp_sum(double x) { return x; }
static inline double warp_sum_beyond(double x, int lanes) { return x; }
static inline bool warp_any(bool p) { return p; }
static inline unsigned warp_ballot(bool p) { return p; }
static inline int count_bits(unsigned x) { return __builtin_popcount(x); }
#define __syncwarp()
static double emu_shared[32 * 1024 / 8];
#define SHARED(bytes) ((char*)emu_shared)
#define __ldg(pointer) (*(pointer))
static inline i64 __double_as_longlong(double x) { i64 r; memcpy(&r, &x, 8); return r; }
static inline double __longlong_as_double(i64 x) { double r; memcpy(&r, &x, 8); return r; }
static inline int atomicCAS(int* p, int c, int v) { int o = *p; if (o == c) *p = v; return o; }
static inline int atomicMin(int* p, int v) { int o = *p; if (v < o) *p = v; return o; }
static inline int atomicMax(int* p, int v) { int o = *p; if (v > o) *p = v; return o; }
static inline u64 atomicMax(u64* p, u64 v) { u64 o = *p; if (v > o) *p = v; return o; }
#else
#ifndef KERNEL  // tests have another one that runs whole warps
#define KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define END
#endif
#define DEVICE __device__ inline
#define TID ((i64)blockIdx.x * blockDim.x + threadIdx.x)
#define WARP_SIZE 32
DEVICE double warp_max(double x) {
  for (int o = 16; o; o >>= 1) x = fmax(x, __shfl_xor_sync(~0u, x, o));
  return x;
}
DEVICE double warp_sum(double x) {
  for (int o = 16; o; o >>= 1) x += __shfl_xor_sync(~0u, x, o);
  return x;
}
// Sums over the lanes whose numbers differ by multiples of `lanes`, a power of 2.
DEVICE double warp_sum_beyond(double x, int lanes) {
  for (int o = lanes; o < 32; o <<= 1) x += __shfl_xor_sync(~0u, x, o);
  return x;
}
DEVICE bool warp_any(bool p) { return __any_sync(~0u, p); }
// A bit for each lane.
DEVICE unsigned warp_ballot(bool p) { return __ballot_sync(~0u, p); }
DEVICE int count_bits(unsigned x) { return __popc(x); }
// The memory that is shared by a warp, if each warp was given so many bytes.
#define SHARED(bytes) ((char*)shared_by_block + threadIdx.x / 32 * (bytes))
extern __shared__ double shared_by_block[];
#endif
// A warp per unit of work: its number, and the place of the thread in it.
#define WARP (TID / WARP_SIZE)
#define LANE ((int)(TID % WARP_SIZE))
