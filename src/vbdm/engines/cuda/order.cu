// The order of the tree, level by level. Along each column every point has a rank of its own, ties by number: the
// key of a point, its node and then its rank along the widest column of the node, is unique, and sorting the keys of
// a level splits all its nodes. What stands at place p is in node ((p + 1) 2^level - 1) / n.

DEVICE i64 node_of(i64 place, int level, i64 n) { return (((place + 1) << level) - 1) / n; }

// Whole numbers in the order of the numbers; 0 and -0 are equal.
DEVICE u64 ordered(double x) {
  const u64 bits = (u64)__double_as_longlong(x + 0.0);
  return bits >> 63 ? ~bits : bits | (1ULL << 63);
}
DEVICE double from_ordered(u64 key) {
  return __longlong_as_double((i64)(key >> 63 ? key & ~(1ULL << 63) : ~key));
}

KERNEL(ordered_keys, i64 n, const double* values, u64* keys) {
  const i64 i = TID;
  if (i < n) keys[i] = ordered(values[i]);
} END

// Writes down the points of a column by rank, and their ranks.
KERNEL(rank_points, i64 n, const i64* sorted, int* by_rank, int* rank) {
  const i64 r = TID;
  if (r >= n) return;
  by_rank[r] = (int)sorted[r];
  rank[sorted[r]] = (int)r;
} END

// Places that a thread looks at, one after the other.
#define RUN 16

DEVICE void widen(u64* extent, int column, double low, double high) {
  // Both ends grow: the lower one is kept as the largest of the complements.
  atomicMax(extent + column, ~ordered(low));
  atomicMax(extent + DIM + column, ordered(high));
}

// Finds the extents of the nodes of a level, (nodes, 2, DIM), which begin at 0.
KERNEL(extents, i64 n, int level, const double* points, const int* order, u64* extent) {
  const i64 begin = TID * RUN, first = (TID - LANE) * RUN;
  i64 last = first + RUN * WARP_SIZE - 1;
  if (first >= n) return;
  if (last >= n) last = n - 1;
  const i64 end = begin + RUN < n ? begin + RUN : n;
  const i64 shared = node_of(first, level, n);
  const bool is_shared = shared == node_of(last, level, n);
  for (int c = 0; c < DIM; c++) {
    double low = INFINITE, high = -INFINITE;
    i64 node = shared;
    for (i64 p = begin; p < end; p++) {
      const i64 now = is_shared ? shared : node_of(p, level, n);
      if (now != node) {
        if (low <= high) widen(extent + node * 2 * DIM, c, low, high);
        low = INFINITE; high = -INFINITE;
        node = now;
      }
      const double x = points[(order ? (i64)order[p] : p) * DIM + c];
      low = fmin(low, x); high = fmax(high, x);
    }
    if (is_shared) { low = -warp_max(-low); high = warp_max(high); }
    if (low <= high && (!is_shared || LANE == 0)) widen(extent + node * 2 * DIM, c, low, high);
  }
} END

// The widest column of each node: the first one of those that are equally wide.
KERNEL(widest_columns, i64 n_nodes, const u64* extent, int* column) {
  const i64 node = TID;
  if (node >= n_nodes) return;
  const u64* own = extent + node * 2 * DIM;
  double widest = -1;
  int found = 0;
  for (int c = 0; c < DIM; c++) {
    const double width = from_ordered(own[DIM + c]) - from_ordered(~own[c]);
    if (width > widest) { widest = width; found = c; }
  }
  column[node] = found;
} END

KERNEL(split_keys, i64 n, int level, const int* column, const int* rank, const int* order, u64* keys) {
  const i64 p = TID;
  if (p >= n) return;
  const i64 node = node_of(p, level, n), point = order ? order[p] : p;
  keys[p] = (u64)node << 32 | (u64)rank[column[node] * n + point];
} END

// Reads the points from their sorted keys.
KERNEL(read_order, i64 n, int level, const int* column, const int* by_rank, const u64* keys, int* order) {
  const i64 p = TID;
  if (p >= n) return;
  order[p] = by_rank[column[node_of(p, level, n)] * n + (i64)(keys[p] & 0xffffffffULL)];
} END

// Points of a leaf stand in the order of their numbers.
KERNEL(leaf_keys, i64 n, int level, const int* order, u64* keys) {
  const i64 p = TID;
  if (p < n) keys[p] = (u64)node_of(p, level, n) << 32 | (u64)order[p];
} END
