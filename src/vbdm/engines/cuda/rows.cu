// Rows of sparse matrices, a warp per row. The source is compiled for matrices of numbers with DIM bits, 32 or 64; all
// sums are in double precision, and run in an order that does not depend on the launch.
//
// A matrix is handed over as number of rows, row pointers, columns, values: MATRIX.
#if DIM == 32
typedef float value;
#else
typedef double value;
#endif
#define MATRIX i64 n, const i64* pointer, const int* columns, const value* values
#define A_ROW             \
  const i64 row = WARP;   \
  if (row >= n) return;   \
  const i64 begin = pointer[row], end = pointer[row + 1]

// ---- products ----

DEVICE double entry(const value* values, i64 p, int power) {
  const double w = (double)values[p];
  double result = w;
  for (int k = 1; k < power; k++) result *= w;
  return result;
}

// Writes left · A^power · right · x, subtracted from diagonal · x if there is a diagonal; or, if there is a divisor,
// (A x + added) / divisor. `lanes` of each warp share the m columns of x, the others the entries of the row.
KERNEL(multiply, MATRIX, int m, int lanes, int power, const double* x, const double* left, const double* right,
       const double* diagonal, const double* added, const double* divisor, double* out) {
  A_ROW;
  const int across = lanes < WARP_SIZE ? lanes : WARP_SIZE, parts = WARP_SIZE / across, part = LANE / across;
  for (int first = 0; first < m; first += across) {
    const int c = first + LANE % across;
    double sum[4] = {0, 0, 0, 0};
    if (c < m) {
      i64 p = begin + part;
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
    double total = warp_sum_beyond((sum[0] + sum[1]) + (sum[2] + sum[3]), across);
    if (c < m && part == 0) {
      const i64 at = row * m + c;
      if (left) total *= left[row];
      if (diagonal) total = diagonal[row] * x[at] - total;
      out[at] = divisor ? (total + added[at]) / divisor[row] : total;
    }
  }
} END

// ---- entries ----

KERNEL(scale, MATRIX, const double* left, const double* right, double* out) {
  A_ROW;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE) {
    const double w = left ? left[row] * (double)values[p] : (double)values[p];
    out[p] = right ? w * right[columns[p]] : w;
  }
} END
KERNEL(diagonal, MATRIX, double* out) {
  A_ROW;
  double found = 0;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE)
    if (columns[p] == row) found += (double)values[p];
  found = warp_sum(found);
  if (LANE == 0) out[row] = found;
} END
// Row `row` of the result is row `rows[row]` of the matrix.
KERNEL(take_rows, MATRIX, const i64* rows, const i64* out_pointer, int* out_columns, value* out_values) {
  const i64 row = WARP;
  if (row >= n) return;
  const i64 shift = pointer[rows[row]] - out_pointer[row];
  for (i64 p = out_pointer[row] + LANE; p < out_pointer[row + 1]; p += WARP_SIZE) {
    out_columns[p] = columns[p + shift];
    out_values[p] = values[p + shift];
  }
} END
// Brings the columns of each row into ascending order. Few stand elsewhere, so that one thread mends the row.
KERNEL(sort_rows, i64 n, const i64* pointer, int* columns, value* values) {
  A_ROW;
  bool descends = false;
  for (i64 p = begin + 1 + LANE; p < end; p += WARP_SIZE) descends |= columns[p] < columns[p - 1];
  if (!warp_any(descends) || LANE > 0) return;
  for (i64 p = begin + 1; p < end; p++) {
    const int column = columns[p];
    const value kept = values[p];
    i64 q = p;
    for (; q > begin && columns[q - 1] > column; q--) { columns[q] = columns[q - 1]; values[q] = values[q - 1]; }
    columns[q] = column; values[q] = kept;
  }
} END
// The number of products of entries that make up each row of A times another matrix.
KERNEL(count_products, MATRIX, const i64* other_pointer, i64* counts) {
  A_ROW;
  i64 count = 0;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE)
    count += other_pointer[columns[p] + 1] - other_pointer[columns[p]];
  count = (i64)warp_sum((double)count);
  if (LANE == 0) counts[row] = count;
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
KERNEL(join, MATRIX, const double* scale, double least, i64 few, int* parents) {
  A_ROW;
  const double own = least * scale[row];
  const i64 stop = end - begin < few ? end : begin + few;
  for (i64 p = begin + LANE; p < stop; p += WARP_SIZE) {
    const int j = columns[p];
    if (j != row && (double)values[p] > own * scale[j]) unite(parents, (int)row, j);
  }
} END
// Joins points of the same cell whose link |K_ij| root_i root_j is `least` or more; those apart to none.
KERNEL(join_within, MATRIX, const int* labels, const double* root, const bool* apart, double least, int* parents) {
  A_ROW;
  if (apart[row]) return;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE) {
    const int j = columns[p];
    if (j <= row || labels[j] != labels[row] || apart[j]) continue;
    if (fabs((double)values[p]) * root[row] * root[j] >= least) unite(parents, (int)row, j);
  }
} END
KERNEL(flatten, i64 n, int* parents, int* is_first) {
  const i64 v = TID;
  if (v >= n) return;
  const int first = root_of(parents, (int)v);
  parents[v] = first; is_first[v] = first == v;
} END

// ---- sums over cells ----

// Tells whether the columns of some row do not ascend.
KERNEL(find_descent, MATRIX, int* found) {
  A_ROW;
  for (i64 p = begin + 1 + LANE; p < end; p += WARP_SIZE)
    if (columns[p] <= columns[p - 1]) *found = 1;
} END
KERNEL(extend_cells, i64 n, const int* labels, int* first, int* last) {
  const i64 v = TID;
  if (v >= n) return;
  atomicMin(first + labels[v], (int)v); atomicMax(last + labels[v], (int)v);
} END
// Whether no entry of the row before p is of the same cell. If columns ascend, only those from the first point of the
// cell on can be.
DEVICE bool opens_cell(i64 begin, i64 p, const int* columns, const int* labels, const int* first) {
  const int label = labels[columns[p]], least = first ? first[label] : 0;
  for (i64 q = p - 1; q >= begin && columns[q] >= least; q--)
    if (labels[columns[q]] == label) return false;
  return true;
}
KERNEL(count_cells, MATRIX, const int* labels, const int* first, i64* counts) {
  A_ROW;
  double count = 0;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE) count += opens_cell(begin, p, columns, labels, first);
  count = warp_sum(count);
  if (LANE == 0) counts[row] = (i64)count;
} END
// The first entry of a cell sums up those that follow; its place is the number of such entries before it.
KERNEL(sum_cells, MATRIX, const int* labels, const int* first, const int* last, const double* factor,
       const i64* out_pointer, int* out_columns, float* out_values) {
  A_ROW;
  i64 at = out_pointer[row];
  for (i64 from = begin; from < end; from += WARP_SIZE) {
    const i64 p = from + LANE;
    const bool opens = p < end && opens_cell(begin, p, columns, labels, first);
    const unsigned all = warp_ballot(opens);
    if (opens) {
      const int label = labels[columns[p]], most = last ? last[label] : 0x7fffffff;
      double sum = 0;
      for (i64 q = p; q < end && columns[q] <= most; q++)
        if (labels[columns[q]] == label) sum += factor[row] * (double)values[q] * factor[columns[q]];
      const i64 place = at + count_bits(all & ((1u << LANE) - 1));
      out_columns[place] = label; out_values[place] = (float)sum;
    }
    at += count_bits(all);
  }
} END
