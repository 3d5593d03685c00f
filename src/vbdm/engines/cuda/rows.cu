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
KERNEL(number_rows, MATRIX, int* out) {
  A_ROW;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE) out[p] = (int)row;
} END
KERNEL(diagonal, MATRIX, double* out) {
  A_ROW;
  double found = 0;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE)
    if (columns[p] == row) found += (double)values[p];
  found = warp_sum(found);
  if (LANE == 0) out[row] = found;
} END
// Row `row` of the result is row rows[row] of the matrix, its columns are those that have a place, -1 for none.
KERNEL(count_taken, MATRIX, const i64* rows, const int* place, i64* counts) {
  const i64 row = WARP;
  if (row >= n) return;
  double count = 0;
  for (i64 p = pointer[rows[row]] + LANE; p < pointer[rows[row] + 1]; p += WARP_SIZE) count += place[columns[p]] >= 0;
  count = warp_sum(count);
  if (LANE == 0) counts[row] = (i64)count;
} END
KERNEL(take, MATRIX, const i64* rows, const int* place, const i64* out_pointer, int* out_columns, value* out_values) {
  const i64 row = WARP;
  if (row >= n) return;
  i64 at = out_pointer[row];
  const i64 end = pointer[rows[row] + 1];
  for (i64 from = pointer[rows[row]]; from < end; from += WARP_SIZE) {
    const i64 p = from + LANE;
    const int column = p < end ? place[columns[p]] : -1;
    const unsigned all = warp_ballot(column >= 0);
    const i64 to = at + count_bits(all & ((1u << LANE) - 1));
    if (column >= 0) { out_columns[to] = column; out_values[to] = values[p]; }
    at += count_bits(all);
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
// ---- sums and products of matrices ----

// The second matrix is handed over in the same way; its numbers are of one of two types, the other pointer is null.
#define OTHER const i64* other_pointer, const int* other_columns, const float* other32, const double* other64
DEVICE double other_value(const float* other32, const double* other64, i64 q) {
  return other32 ? (double)other32[q] : other64[q];
}
// The first entry of a row, from begin to end - 1, whose column is not below the wanted one.
DEVICE i64 first_from(i64 begin, i64 end, const int* columns, int wanted) {
  while (begin < end) {
    const i64 middle = (begin + end) / 2;
    if (columns[middle] < wanted) begin = middle + 1; else end = middle;
  }
  return begin;
}
// Goes through the entries of a row, and calls visit(p, q, has, before): q is the first entry of the other row from
// the same column on, `has` whether it has that column, `before` the number of common columns before.
template <class Visit>
DEVICE i64 beside(i64 begin, i64 end, const int* columns, i64 other_begin, i64 other_end, const int* other_columns,
                  Visit visit) {
  i64 common = 0;
  for (i64 from = begin; from < end; from += WARP_SIZE) {
    const i64 p = from + LANE;
    const i64 q = p < end ? first_from(other_begin, other_end, other_columns, columns[p]) : other_end;
    const bool has = p < end && q < other_end && other_columns[q] == columns[p];
    const unsigned all = warp_ballot(has);
    if (p < end) visit(p, q, has, common + count_bits(all & ((1u << LANE) - 1)));
    common += count_bits(all);
  }
  return common;
}
// The columns of A + B in each row; columns ascend in both.
KERNEL(count_sum, MATRIX, OTHER, i64* counts) {
  A_ROW;
  const i64 first = other_pointer[row], last = other_pointer[row + 1];
  const i64 common = beside(begin, end, columns, first, last, other_columns, [](i64, i64, bool, i64) {});
  if (LANE == 0) counts[row] = end - begin + last - first - common;
} END
// A + factor B. A column comes after those of both rows that are below it, common ones counted once.
KERNEL(add, MATRIX, OTHER, double factor, const i64* out_pointer, int* out_columns, double* out_values) {
  A_ROW;
  const i64 first = other_pointer[row], last = other_pointer[row + 1], at = out_pointer[row];
  beside(begin, end, columns, first, last, other_columns, [&](i64 p, i64 q, bool has, i64 before) {
    const i64 place = at + (p - begin) + (q - first) - before;
    out_columns[place] = columns[p];
    out_values[place] = (double)values[p] + (has ? factor * other_value(other32, other64, q) : 0.0);
  });
  beside(first, last, other_columns, begin, end, columns, [&](i64 q, i64 p, bool has, i64 before) {
    if (has) return;
    const i64 place = at + (p - begin) + (q - first) - before;
    out_columns[place] = other_columns[q];
    out_values[place] = factor * other_value(other32, other64, q);
  });
} END

// The number of products of entries that make up each row of A B.
KERNEL(count_products, MATRIX, const i64* other_pointer, i64* counts) {
  A_ROW;
  double count = 0;
  for (i64 p = begin + LANE; p < end; p += WARP_SIZE)
    count += other_pointer[columns[p] + 1] - other_pointer[columns[p]];
  count = warp_sum(count);
  if (LANE == 0) counts[row] = (i64)count;
} END
// A table of the columns that occur in a row of A B: 2^bits slots for each warp, at least twice as many as columns, in
// `tables` or, if that is null, in the memory that a warp shares. Free slots hold -1. Slots and columns are listed as they come, `places` will say where the columns go. Keys are
// changed by atomic operations, which a cache does not see: hence volatile.
struct Table { volatile int* keys; int *places, *slots, *names; int bits; };
DEVICE Table table_of(int* tables, int bits) {
  int* own = tables ? tables + WARP * (3ll << bits) : (int*)SHARED(12 << bits);
  for (int slot = LANE; slot < 1 << bits; slot += WARP_SIZE) own[slot] = -1;
  __syncwarp();
  return Table{own, own + (1ll << bits), own + (2ll << bits), own + (5ll << (bits - 1)), bits};
}
DEVICE int first_slot(const Table& table, int column) {
  return (int)((unsigned)column * 2654435761u >> (32 - table.bits));
}
DEVICE int next_slot(const Table& table, int slot) { return (slot + 1) & ((1 << table.bits) - 1); }
DEVICE int slot_of(const Table& table, int column) {
  int slot = first_slot(table, column);
  while (table.keys[slot] != column) slot = next_slot(table, slot);
  return slot;
}
// Puts a column into the table and returns its slot; -1 if it is there already.
DEVICE int put(Table& table, int column) {
  for (int slot = first_slot(table, column);; slot = next_slot(table, slot)) {
    int held = table.keys[slot];
    if (held == -1) held = atomicCAS((int*)table.keys + slot, -1, column);
    if (held == -1) return slot;
    if (held == column) return -1;
  }
}
// Goes through the products of a row, and calls visit(p, q) for each: all lanes call it at the same time, those that
// have none with q = -1. `lanes` of them share a row of B, the others the entries of the row of A.
template <class Visit>
DEVICE void each_product(i64 begin, i64 end, const int* columns, const i64* other_pointer, int lanes, Visit visit) {
  const int across = lanes < WARP_SIZE ? lanes : WARP_SIZE, parts = WARP_SIZE / across;
  for (i64 from = begin; from < end; from += parts) {
    const i64 p = from + LANE / across;
    i64 q = p < end ? other_pointer[columns[p]] + LANE % across : 0;
    const i64 stop = p < end ? other_pointer[columns[p] + 1] : 0;
    for (; warp_any(q < stop); q += across) visit(p, q < stop ? q : -1);
  }
}
// Puts the columns of a row of A B into the table; returns their number.
DEVICE int collect(Table& table, i64 begin, i64 end, const int* columns, const i64* other_pointer,
                   const int* other_columns, int lanes) {
  int count = 0;
  each_product(begin, end, columns, other_pointer, lanes, [&](i64, i64 q) {
    const int slot = q < 0 ? -1 : put(table, other_columns[q]);
    const unsigned all = warp_ballot(slot >= 0);
    const int at = count + count_bits(all & ((1u << LANE) - 1));
    if (slot >= 0) { table.slots[at] = slot; table.names[at] = other_columns[q]; }
    count += count_bits(all);
  });
  __syncwarp();
  return count;
}
DEVICE void clear(Table& table, int count) {
  __syncwarp();
  for (int k = LANE; k < count; k += WARP_SIZE) table.keys[table.slots[k]] = -1;
  __syncwarp();
}
// Sorts numbers by comparing pairs that lie ever nearer (Batcher 1968); there is room up to the next power of 2.
DEVICE void sort(int* numbers, int count) {
  int size = 1;
  while (size < count) size <<= 1;
  for (int k = count + LANE; k < size; k += WARP_SIZE) numbers[k] = 0x7fffffff;
  __syncwarp();
  for (int run = 2; run <= size; run <<= 1)
    for (int step = run >> 1; step; step >>= 1) {
      for (int k = LANE; k < size / 2; k += WARP_SIZE) {
        const int i = 2 * k - (k & (step - 1)), j = i + step, x = numbers[i], y = numbers[j];
        if ((x > y) == ((i & run) == 0)) { numbers[i] = y; numbers[j] = x; }
      }
      __syncwarp();
    }
}
// `workers` warps share the rows.
KERNEL(count_columns, MATRIX, OTHER, i64 workers, int lanes, int bits, int* tables, i64* counts) {
  if (WARP >= workers) return;
  Table table = table_of(tables, bits);
  for (i64 row = WARP; row < n; row += workers) {
    const int count =
        collect(table, pointer[row], pointer[row + 1], columns, other_pointer, other_columns, lanes);
    if (LANE == 0) counts[row] = count;
    clear(table, count);
  }
} END
// Columns go to their places in ascending order. Lanes that share a row of B have different columns, and those with
// different rows of B wait for each other: so sums run along the row of A.
KERNEL(multiply_rows, MATRIX, OTHER, i64 workers, int lanes, int bits, int* tables, const i64* out_pointer,
       int* out_columns, double* out_values) {
  if (WARP >= workers) return;
  Table table = table_of(tables, bits);
  const int across = lanes < WARP_SIZE ? lanes : WARP_SIZE;
  for (i64 row = WARP; row < n; row += workers) {
    const i64 begin = pointer[row], end = pointer[row + 1], at = out_pointer[row];
    const int count = collect(table, begin, end, columns, other_pointer, other_columns, lanes);
    sort(table.names, count);
    for (int k = LANE; k < count; k += WARP_SIZE) {
      table.places[slot_of(table, table.names[k])] = k;
      out_columns[at + k] = table.names[k]; out_values[at + k] = 0;
    }
    __syncwarp();
    each_product(begin, end, columns, other_pointer, lanes, [&](i64 p, i64 q) {
      const i64 place = q < 0 ? 0 : at + table.places[slot_of(table, other_columns[q])];
      const double product = q < 0 ? 0.0 : (double)values[p] * other_value(other32, other64, q);
      for (int part = 0; part < WARP_SIZE / across; part++) {
        if (q >= 0 && LANE / across == part) out_values[place] += product;
        __syncwarp();
      }
    });
    clear(table, count);
  }
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
// Gives each point the first point of its piece. Nobody shortens the ways of others here: a way read before they were
// done, and written after, would leave them with a point in between.
KERNEL(flatten, i64 n, volatile int* parents, int* is_first) {
  const i64 v = TID;
  if (v >= n) return;
  int first = parents[v], next;
  while (first > (next = parents[first])) first = next;
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
