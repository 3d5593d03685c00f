// Rows of sparse matrices: a warp per row, or a thread per point. Nothing here depends on the columns of the data.

// ---- products ----

template <class V> DEVICE double entry(const V* values, i64 p, int power) {
  double w = (double)values[p], result = w;
  for (int k = 1; k < power; k++) result *= w;
  return result;
}

// Writes row by row left · A^power · right · x, subtracted from diagonal · x if there is a diagonal; or, if there is
// a divisor, (A x + added) / divisor. `lanes` of each warp share the m columns, the others the entries of the row.
template <class V>
DEVICE void multiply(i64 n, int m, int lanes, const i64* pointer, const int* columns, const V* values, int power,
                     const double* x, const double* left, const double* right, const double* diagonal,
                     const double* added, const double* divisor, double* out) {
  i64 row = WARP;
  if (row >= n) return;
  if (lanes > WARP_SIZE) lanes = WARP_SIZE;
  const int parts = WARP_SIZE / lanes, part = LANE / lanes;
  const i64 begin = pointer[row] + part, end = pointer[row + 1];
  for (int first = 0; first < m; first += lanes) {
    const int c = first + LANE % lanes;
    double sum[4] = {0, 0, 0, 0};
    if (c < m) {
      i64 p = begin;
      for (; p + 3 * parts < end; p += 4 * parts)
        for (int k = 0; k < 4; k++) {
          const i64 j = columns[p + k * parts];
          double w = entry(values, p + k * parts, power);
          if (right) w *= right[j];
          sum[k] += w * x[j * m + c];
        }
      for (; p < end; p += parts) {
        const i64 j = columns[p];
        double w = entry(values, p, power);
        if (right) w *= right[j];
        sum[0] += w * x[j * m + c];
      }
    }
    double total = warp_sum_beyond((sum[0] + sum[1]) + (sum[2] + sum[3]), lanes);
    if (c < m && part == 0) {
      const i64 at = row * m + c;
      if (left) total *= left[row];
      if (diagonal) total = diagonal[row] * x[at] - total;
      out[at] = divisor ? (total + added[at]) / divisor[row] : total;
    }
  }
}
KERNEL(multiply32, i64 n, int m, int lanes, const i64* pointer, const int* columns, const float* values, int power,
       const double* x, const double* left, const double* right, const double* diagonal, const double* added,
       const double* divisor, double* out) {
  multiply(n, m, lanes, pointer, columns, values, power, x, left, right, diagonal, added, divisor, out);
} END
KERNEL(multiply64, i64 n, int m, int lanes, const i64* pointer, const int* columns, const double* values, int power,
       const double* x, const double* left, const double* right, const double* diagonal, const double* added,
       const double* divisor, double* out) {
  multiply(n, m, lanes, pointer, columns, values, power, x, left, right, diagonal, added, divisor, out);
} END

// ---- connected pieces (after Jaiganesh and Burtscher 2018) ----

// `parents` holds for each point another one of its piece with a lower number, or itself. Whoever shortens a way to
// the first point does no harm to others on the same way.
DEVICE int root_of(volatile int* parents, int v) {
  int at = parents[v];
  if (at != v) {
    int before = v, next;
    while (at > (next = parents[at])) { parents[before] = next; before = at; at = next; }
  }
  return at;
}
// Joins the pieces of two points: the higher first point gets the lower one as its parent.
DEVICE void unite(int* parents, int a, int b) {
  int u = root_of(parents, a), v = root_of(parents, b);
  while (u != v) {
    if (u < v) { const int w = u; u = v; v = w; }
    const int seen = atomicCAS(parents + u, u, v);
    if (seen == u) return;
    u = root_of(parents, seen); v = root_of(parents, v);
  }
}
// Joins points that are linked by more than `least` times both their scales; of each row the first `few` links.
template <class V>
DEVICE void join(i64 n, const i64* pointer, const int* columns, const V* values, const double* scale, double least,
                 i64 few, int* parents) {
  const i64 row = WARP;
  if (row >= n) return;
  const double own = least * scale[row];
  const i64 begin = pointer[row], all = pointer[row + 1], end = all - begin < few ? all : begin + few;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE) {
    const int j = columns[p];
    if (j != row && (double)values[p] > own * scale[j]) unite(parents, (int)row, j);
  }
}
KERNEL(join32, i64 n, const i64* pointer, const int* columns, const float* values, const double* scale, double least,
       i64 few, int* parents) { join(n, pointer, columns, values, scale, least, few, parents); } END
KERNEL(join64, i64 n, const i64* pointer, const int* columns, const double* values, const double* scale, double least,
       i64 few, int* parents) { join(n, pointer, columns, values, scale, least, few, parents); } END

// Joins points of the same cell whose link |K_ij| root_i root_j is `least` or more; those apart to none.
template <class V>
DEVICE void join_within(i64 n, const i64* pointer, const int* columns, const V* values, const int* labels,
                        const double* root, const bool* apart, double least, int* parents) {
  const i64 row = WARP;
  if (row >= n || apart[row]) return;
  for (i64 p = pointer[row] + LANE; p < pointer[row + 1]; p += WARP_SIZE) {
    const int j = columns[p];
    if (j <= row || labels[j] != labels[row] || apart[j]) continue;
    if (fabs((double)values[p]) * root[row] * root[j] >= least) unite(parents, (int)row, j);
  }
}
KERNEL(join_within32, i64 n, const i64* pointer, const int* columns, const float* values, const int* labels,
       const double* root, const bool* apart, double least, int* parents) {
  join_within(n, pointer, columns, values, labels, root, apart, least, parents);
} END
KERNEL(join_within64, i64 n, const i64* pointer, const int* columns, const double* values, const int* labels,
       const double* root, const bool* apart, double least, int* parents) {
  join_within(n, pointer, columns, values, labels, root, apart, least, parents);
} END
KERNEL(flatten, i64 n, int* parents, int* is_first) {
  const i64 v = TID;
  if (v >= n) return;
  const int first = root_of(parents, (int)v);
  parents[v] = first; is_first[v] = first == v;
} END

// ---- sums over cells ----

// Tells whether the columns of some row do not ascend.
KERNEL(find_descent, i64 n, const i64* pointer, const int* columns, int* found) {
  const i64 row = WARP;
  if (row >= n) return;
  for (i64 p = pointer[row] + 1 + LANE; p < pointer[row + 1]; p += WARP_SIZE)
    if (columns[p] <= columns[p - 1]) *found = 1;
} END
KERNEL(extend_cells, i64 n, const int* labels, int* first, int* last) {
  const i64 v = TID;
  if (v >= n) return;
  atomicMin(first + labels[v], (int)v); atomicMax(last + labels[v], (int)v);
} END
// Whether no entry of the row before p has the same label. If columns ascend, only those from the first point of the
// cell on can.
DEVICE bool opens_cell(i64 begin, i64 p, const int* columns, const int* labels, const int* first) {
  const int label = labels[columns[p]], least = first ? first[label] : 0;
  for (i64 q = p - 1; q >= begin && columns[q] >= least; q--)
    if (labels[columns[q]] == label) return false;
  return true;
}
KERNEL(count_cells, i64 n, const i64* pointer, const int* columns, const int* labels, const int* first,
       const int* last, i64* counts) {
  const i64 row = WARP;
  if (row >= n) return;
  const i64 begin = pointer[row], end = pointer[row + 1];
  double count = 0;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE) count += opens_cell(begin, p, columns, labels, first);
  count = warp_sum(count);
  if (LANE == 0) counts[row] = (i64)count;
} END
template <class V>
DEVICE void sum_cells(i64 n, const i64* pointer, const int* columns, const int* labels, const int* first,
                      const int* last, const V* values, const double* factor, const i64* out_pointer,
                      int* out_columns, float* out_values) {
  const i64 row = WARP;
  if (row >= n) return;
  const i64 begin = pointer[row], end = pointer[row + 1];
  i64 at = out_pointer[row];
  for (i64 from = begin; from < end; from += WARP_SIZE) {
    const i64 p = from + LANE;
    const bool opens = p < end && opens_cell(begin, p, columns, labels, first);
    const unsigned all = warp_ballot(opens);
    if (opens) {
      const int label = labels[columns[p]], most = first ? last[label] : 0x7fffffff;
      double sum = 0;
      for (i64 q = p; q < end && columns[q] <= most; q++)
        if (labels[columns[q]] == label) sum += factor[row] * (double)values[q] * factor[columns[q]];
      const i64 place = at + count_bits(all & ((1u << LANE) - 1));
      out_columns[place] = label; out_values[place] = (float)sum;
    }
    at += count_bits(all);
  }
}
KERNEL(sum_cells32, i64 n, const i64* pointer, const int* columns, const int* labels, const int* first,
       const int* last, const float* values, const double* factor, const i64* out_pointer, int* out_columns,
       float* out_values) {
  sum_cells(n, pointer, columns, labels, first, last, values, factor, out_pointer, out_columns, out_values);
} END
KERNEL(sum_cells64, i64 n, const i64* pointer, const int* columns, const int* labels, const int* first,
       const int* last, const double* values, const double* factor, const i64* out_pointer, int* out_columns,
       float* out_values) {
  sum_cells(n, pointer, columns, labels, first, last, values, factor, out_pointer, out_columns, out_values);
} END
// Brings the columns of each row into ascending order; few stand elsewhere, so that a thread mends a row.
template <class V> DEVICE void sort_row(i64 n, const i64* pointer, int* columns, V* values) {
  const i64 row = WARP;
  if (row >= n) return;
  const i64 begin = pointer[row], end = pointer[row + 1];
  bool descends = false;
  for (i64 p = begin + 1 + LANE; p < end; p += WARP_SIZE) descends |= columns[p] < columns[p - 1];
  if (!warp_any(descends) || LANE > 0) return;
  for (i64 p = begin + 1; p < end; p++) {
    const int column = columns[p];
    const V value = values[p];
    i64 q = p;
    for (; q > begin && columns[q - 1] > column; q--) { columns[q] = columns[q - 1]; values[q] = values[q - 1]; }
    columns[q] = column; values[q] = value;
  }
}
KERNEL(sort_rows32, i64 n, const i64* pointer, int* columns, float* values) {
  sort_row(n, pointer, columns, values);
} END
KERNEL(sort_rows64, i64 n, const i64* pointer, int* columns, double* values) {
  sort_row(n, pointer, columns, values);
} END
