// Walks on the tree. Node i of level l has row 2^l - 1 + i in the arrays of boxes and holds the points from i n >> l
// to (i + 1) n >> l. Gaps to boxes round as distances to points do, so a gap is never larger than the distance to a
// point in the box: what is found does not depend on what is skipped.

#define CLOUD i64 n, int depth, const double *columns, const double *low, const double *high, const double *period
#define THE_CLOUD {n, depth, columns, low, high, period}
struct Cloud {
  i64 n;
  int depth;
  const double *columns, *low, *high, *period;
};

DEVICE bool has_period(const double* period) {
  bool found = false;
  for (int c = 0; c < DIM; c++) found |= period[c] > 0;
  return found;
}

// The squared distance from a point to the box of a node.
template <bool WRAPS> DEVICE double gap_to_box(const Cloud& t, const double* x, i64 node) {
  double total = 0;
  for (int c = 0; c < DIM; c++) {
    const double lower = t.low[node * DIM + c], upper = t.high[node * DIM + c];
    double gap = fmax(fmax(lower - x[c], x[c] - upper), 0.0);
    if (WRAPS) {
      const double length = t.period[c];
      if (length > 0 && gap > 0) gap = fmax(fmin(gap, length - fmax(upper - x[c], x[c] - lower)), 0.0);
    }
    total += gap * gap;
  }
  return total;
}

// The squared distance from a point to point j of the tree.
template <bool WRAPS> DEVICE double distance_to(const Cloud& t, const double* x, i64 j) {
  double total = 0;
  for (int c = 0; c < DIM; c++) {
    double gap = __ldg(t.columns + c * t.n + j) - x[c];
    if (WRAPS) {
      const double length = t.period[c];
      if (length > 0) gap -= length * rint(gap / length);
    }
    total += gap * gap;
  }
  return total;
}

// Visits leaves, from the first to the last, by the points in them; nodes that are not entered are left out. All lanes
// of a warp go together: `enter` must say the same to all.
template <class Enter, class Visit> DEVICE void walk(const Cloud& t, Enter enter, Visit visit) {
  int level = 0;
  i64 place = 0;
  while (true) {
    if (enter((1LL << level) - 1 + place)) {
      if (level < t.depth) {
        level++;
        place <<= 1;
        continue;
      }
      visit((place * t.n) >> level, ((place + 1) * t.n) >> level);
    }
    while (level > 0 && (place & 1)) {
      place >>= 1;
      level--;
    }
    if (level == 0) return;
    place++;
  }
}

// ---- pairs within reach: |x-y|² < cut ρ(x) ρ(y) ----

#define REACH const double *rho, const double *widest, double cut
#define THE_REACH {rho, widest, cut}
struct Reach {
  const double *rho, *widest;
  double cut;
};

// A warp per leaf, a point of it per lane. Counts the pairs of the points begin, ..., end - 1, or writes them down:
// `pointer` says where those of each begin.
template <bool WRAPS, bool WRITES>
DEVICE void pairs_of_leaf(const Cloud& t, const Reach& r, bool with_self, i64 leaf, i64 begin, i64 end, i64* counts,
                          const i64* pointer, int* neighbors, double* scaled) {
  const i64 stop = ((leaf + 1) * t.n) >> t.depth;
  for (i64 first = (leaf * t.n) >> t.depth; first < stop; first += WARP_SIZE) {
    const i64 i = first + LANE;
    const bool on = i < stop && i >= begin && i < end;
    const i64 point = i < stop ? i : first;
    const double own = r.rho[point];
    double x[DIM];
    for (int c = 0; c < DIM; c++) x[c] = t.columns[c * t.n + point];
    i64 at = WRITES && on ? pointer[i - begin] - pointer[0] : 0;
    walk(
        t,
        [&](i64 node) { return warp_any(on && gap_to_box<WRAPS>(t, x, node) < r.cut * (own * r.widest[node])); },
        [&](i64 start, i64 last) {
#pragma unroll 4
          for (i64 j = start; j < last; j++) {
            const double d = distance_to<WRAPS>(t, x, j), product = own * __ldg(r.rho + j);
            if (d < r.cut * product && on && (with_self || i != j)) {
              if (WRITES) {
                neighbors[at] = (int)j;
                scaled[at] = d / product;
              }
              at++;
            }
          }
        });
    if (!WRITES && on) counts[i - begin] = at;
  }
}
#define LEAVES int with_self, i64 first_leaf, i64 end_leaf, i64 begin, i64 end
KERNEL(count_pairs, CLOUD, REACH, LEAVES, i64* counts) {
  const i64 leaf = first_leaf + WARP;
  if (leaf >= end_leaf) return;
  const Cloud t = THE_CLOUD;
  const Reach r = THE_REACH;
  if (has_period(period)) pairs_of_leaf<true, false>(t, r, with_self, leaf, begin, end, counts, 0, 0, 0);
  else pairs_of_leaf<false, false>(t, r, with_self, leaf, begin, end, counts, 0, 0, 0);
} END
KERNEL(write_pairs, CLOUD, REACH, LEAVES, const i64* pointer, int* neighbors, double* scaled) {
  const i64 leaf = first_leaf + WARP;
  if (leaf >= end_leaf) return;
  const Cloud t = THE_CLOUD;
  const Reach r = THE_REACH;
  if (has_period(period)) pairs_of_leaf<true, true>(t, r, with_self, leaf, begin, end, 0, pointer, neighbors, scaled);
  else pairs_of_leaf<false, true>(t, r, with_self, leaf, begin, end, 0, pointer, neighbors, scaled);
} END

// A warp per new point, which may lie anywhere; the points of a leaf go to the lanes. Counts its pairs, or writes them
// down if it is told where they begin.
template <bool WRAPS>
DEVICE void pairs_of_new(const Cloud& t, const Reach& r, const double* point, double own, i64* count, i64 at,
                         int* neighbors, double* scaled) {
  double x[DIM];
  for (int c = 0; c < DIM; c++) x[c] = point[c];
  i64 found = 0;
  walk(
      t, [&](i64 node) { return gap_to_box<WRAPS>(t, x, node) < r.cut * (own * r.widest[node]); },
      [&](i64 start, i64 stop) {
        for (i64 first = start; first < stop; first += WARP_SIZE) {
          const i64 j = first + LANE;
          const i64 read = j < stop ? j : first;
          const double d = distance_to<WRAPS>(t, x, read), product = own * r.rho[read];
          const bool hit = j < stop && d < r.cut * product;
          const unsigned hits = warp_ballot(hit);
          if (hit && neighbors) {
            const i64 place = at + found + count_bits(hits & ((1u << LANE) - 1));
            neighbors[place] = (int)j;
            scaled[place] = d / product;
          }
          found += count_bits(hits);
        }
      });
  if (count && LANE == 0) *count = found;
}
KERNEL(pairs_of_points, CLOUD, REACH, i64 m, const double* points, const double* widths, i64* counts,
       const i64* pointer, int* neighbors, double* scaled) {
  const i64 i = WARP;
  if (i >= m) return;
  const Cloud t = THE_CLOUD;
  const Reach r = THE_REACH;
  const double* point = points + i * DIM;
  i64* count = counts ? counts + i : 0;
  const i64 at = pointer ? pointer[i] : 0;
  if (has_period(period)) pairs_of_new<true>(t, r, point, widths[i], count, at, neighbors, scaled);
  else pairs_of_new<false>(t, r, point, widths[i], count, at, neighbors, scaled);
} END

// ---- nearest points ----

// Pairs of a squared distance and a number, the nearer first, equally near ones by number.
DEVICE bool before(double a, int i, double b, int j) { return a < b || (a == b && i < j); }

// Sorts pairs, by all lanes; there is room for a power of 2 of them.
DEVICE void sort_pairs(double* values, int* numbers, int count) {
  int size = 1;
  while (size < count) size <<= 1;
  for (int p = count + LANE; p < size; p += WARP_SIZE) {
    values[p] = INFINITE;
    numbers[p] = 0x7fffffff;
  }
  __syncwarp();
  for (int block = 2; block <= size; block <<= 1)
    for (int step = block >> 1; step; step >>= 1) {
      for (int t = LANE; t < size >> 1; t += WARP_SIZE) {
        const int p = 2 * t - (t & (step - 1)), q = p + step;
        const double a = values[p], b = values[q];
        const int i = numbers[p], j = numbers[q];
        if (before(b, j, a, i) == !(p & block)) {
          values[p] = b; values[q] = a;
          numbers[p] = j; numbers[q] = i;
        }
      }
      __syncwarp();
    }
}

// Nodes that wait on the way down: one of each level at most.
#define WAITING 32

// Finds the k nearest points of one point, by all lanes of a warp, and leaves them in front of `values` and `numbers`,
// which have `room` for a power of 2 of pairs. When the room is full, the k first are kept; from then on nothing comes
// in that would be behind them.
template <bool WRAPS>
DEVICE void nearest_to(const Cloud& t, const double* point, int k, int room, double* values, int* numbers,
                       double* gaps, int* nodes) {
  double x[DIM], bound = INFINITE;
  for (int c = 0; c < DIM; c++) x[c] = point[c];
  const int first_leaf = (1 << t.depth) - 1;
  int node = 0, waiting = 0, count = 0, last = 0x7fffffff;
  while (true) {
    bool descends = false;
    if (node < first_leaf) {
      const double left = gap_to_box<WRAPS>(t, x, 2 * node + 1), right = gap_to_box<WRAPS>(t, x, 2 * node + 2);
      const int turn = right < left;
      if (fmax(left, right) <= bound) {
        __syncwarp();
        if (LANE == 0) {
          gaps[waiting] = fmax(left, right);
          nodes[waiting] = 2 * node + 2 - turn;
        }
        waiting++;
      }
      descends = fmin(left, right) <= bound;
      node = 2 * node + 1 + turn;
    } else {
      const i64 leaf = node - first_leaf, start = (leaf * t.n) >> t.depth, stop = ((leaf + 1) * t.n) >> t.depth;
      for (i64 first = start; first < stop; first += WARP_SIZE) {
        const i64 j = first + LANE;
        const double d = j < stop ? distance_to<WRAPS>(t, x, j) : INFINITE;
        const bool hit = j < stop && before(d, (int)j, bound, last);
        const unsigned hits = warp_ballot(hit);
        if (hit) {
          const int place = count + count_bits(hits & ((1u << LANE) - 1));
          values[place] = d;
          numbers[place] = (int)j;
        }
        count += count_bits(hits);
      }
      if (count > room - 32) {
        sort_pairs(values, numbers, count);
        count = k;
        bound = values[k - 1];
        last = numbers[k - 1];
      }
    }
    __syncwarp();
    while (!descends && waiting > 0) {
      waiting--;
      node = nodes[waiting];
      descends = gaps[waiting] <= bound;
    }
    if (!descends) break;
  }
  sort_pairs(values, numbers, count);
}

// A warp per query. Pairs are collected in the memory of the warp, or in `values` and `numbers`, if these are given.
KERNEL(nearest, CLOUD, i64 m, const double* queries, int k, int room, int bytes, double* values, int* numbers,
       int* indices, double* sqdist) {
  const i64 q = WARP;
  if (q >= m) return;
  const Cloud t = THE_CLOUD;
  double* gaps = (double*)SHARED(bytes);
  int* nodes = (int*)(gaps + WAITING);
  double* own_values = values ? values + q * room : (double*)(nodes + WAITING);
  int* own_numbers = values ? numbers + q * room : (int*)(own_values + room);
  const double* point = queries + q * DIM;
  if (has_period(period)) nearest_to<true>(t, point, k, room, own_values, own_numbers, gaps, nodes);
  else nearest_to<false>(t, point, k, room, own_values, own_numbers, gaps, nodes);
  for (int p = LANE; p < k; p += WARP_SIZE) {
    indices[q * k + p] = own_numbers[p];
    sqdist[q * k + p] = own_values[p];
  }
} END
