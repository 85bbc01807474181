/** Rows of signs, what each row should be (0 to 1), and how much it counts. */
export interface Samples {
  readonly signs: readonly (readonly number[])[];
  readonly labels: readonly number[];
  readonly weights: readonly number[];
}

/** A base, and trees. A split has a sign and the threshold from which on it goes right; then come the values of the leaves. */
export interface Model {
  readonly base: number;
  readonly trees: readonly (readonly number[])[];
}

export const DEPTH = 3;
const SPLITS = 2 ** DEPTH - 1;
const TREES = 100;
const RATE = 0.12;
/** Shares of the rows and of the signs that a tree looks at. */
const ROW_SHARE = 0.5;
const SIGN_SHARE = 0.5;
/** Regularization: keeps the values of leaves with few rows near 0. */
const PENALTY = 50;
const MIN_LEAF = 1;
const BINS = 32;

/** Fits trees by Newton boosting of the logistic loss. The same samples give the same trees. */
export function boost({ signs, labels, weights }: Samples): Model {
  const random = randomNumbers();
  const columns = (signs[0] ?? []).map((_, sign) => binned(Float64Array.from(signs, (row) => row[sign] ?? 0)));
  const [y, w] = [Float64Array.from(labels), Float64Array.from(weights)];
  const wanted = y.reduce((sum, label, row) => sum + label * at(w, row), 0);
  const base = Math.log(wanted / (w.reduce((sum, each) => sum + each, 0) - wanted));
  const odds = new Float64Array(y.length).fill(base);
  const [slope, curve] = [new Float64Array(y.length), new Float64Array(y.length)];
  const node = new Uint8Array(y.length);
  const trees: number[][] = [];
  for (let made = 0; made < TREES; made += 1) {
    const rows = Int32Array.from([...y.keys()].filter(() => random() < ROW_SHARE));
    const some = columns.filter(() => random() < SIGN_SHARE);
    for (const row of rows) {
      const chance = 1 / (1 + Math.exp(-at(odds, row)));
      slope[row] = at(w, row) * (chance - at(y, row));
      curve[row] = at(w, row) * chance * (1 - chance);
    }
    node.fill(0);
    const tree: number[] = [];
    for (let first = 0; first < SPLITS; first = 2 * first + 1) {
      const splits = bestSplits(some, rows, node, { slope, curve }, { first, count: first + 1 });
      for (const split of splits) tree.push(columns.indexOf(split.column), split.threshold);
      for (let row = 0; row < node.length; row += 1) {
        const { column, bin } = splits[at(node, row) - first] ?? { column: columns[0], bin: BINS };
        node[row] = 2 * at(node, row) + (column !== undefined && at(column.bins, row) > bin ? 2 : 1);
      }
    }
    const leaves = new Float64Array(2 * (SPLITS + 1) + 1);
    const curves = new Float64Array(leaves.length);
    for (const row of rows) {
      leaves[at(node, row)] = at(leaves, at(node, row)) - at(slope, row);
      curves[at(node, row)] = at(curves, at(node, row)) + at(curve, row);
    }
    for (let leaf = SPLITS; leaf <= 2 * SPLITS; leaf += 1)
      tree.push(rounded((RATE * at(leaves, leaf)) / (at(curves, leaf) + PENALTY)));
    for (let row = 0; row < node.length; row += 1) odds[row] = at(odds, row) + (tree[SPLITS + at(node, row)] ?? 0);
    trees.push(tree);
  }
  return { base: rounded(base), trees };
}

/** `further`: added to the logarithm of the odds. */
export function chanceOf({ base, trees }: Model, signs: readonly number[], further = 0): number {
  const odds = trees.reduce((sum, tree) => {
    let node = 0;
    for (let depth = 0; depth < DEPTH; depth += 1)
      node = 2 * node + ((signs[tree[2 * node] ?? 0] ?? 0) >= (tree[2 * node + 1] ?? 0) ? 2 : 1);
    return sum + (tree[SPLITS + node] ?? 0);
  }, base + further);
  return 1 / (1 + Math.exp(-odds));
}

interface Column {
  readonly bins: Uint8Array;
  /** Bin `n` holds the values from `edges[n - 1]` up to `edges[n]`. */
  readonly edges: readonly number[];
}

/** Returns the best split of each of `count` nodes; when no split gains, one that sends all rows left. */
function bestSplits(
  columns: readonly Column[],
  rows: Int32Array,
  node: Uint8Array,
  { slope, curve }: { readonly slope: Float64Array; readonly curve: Float64Array },
  { first, count }: { readonly first: number; readonly count: number },
) {
  const none = { column: columns[0] ?? { bins: new Uint8Array(), edges: [] }, bin: BINS, threshold: 1e9, gain: 0 };
  const best = Array.from({ length: count }, () => none);
  for (const column of columns) {
    const size = column.edges.length + 1;
    const [slopes, curves] = [new Float64Array(count * size), new Float64Array(count * size)];
    for (const row of rows) {
      const cell = (at(node, row) - first) * size + at(column.bins, row);
      slopes[cell] = at(slopes, cell) + at(slope, row);
      curves[cell] = at(curves, cell) + at(curve, row);
    }
    for (let each = 0; each < count; each += 1) {
      const [from, to] = [each * size, (each + 1) * size];
      const allSlope = slopes.subarray(from, to).reduce((sum, value) => sum + value, 0);
      const allCurve = curves.subarray(from, to).reduce((sum, value) => sum + value, 0);
      let [left, weight] = [0, 0];
      for (let bin = 0; bin < size - 1; bin += 1) {
        left += at(slopes, from + bin);
        weight += at(curves, from + bin);
        if (weight < MIN_LEAF || allCurve - weight < MIN_LEAF) continue;
        const gain =
          left ** 2 / (weight + PENALTY) +
          (allSlope - left) ** 2 / (allCurve - weight + PENALTY) -
          allSlope ** 2 / (allCurve + PENALTY);
        if (gain > (best[each]?.gain ?? 0)) best[each] = { column, bin, threshold: column.edges[bin] ?? 1e9, gain };
      }
    }
  }
  return best;
}

/** Sorts values into bins with about as many values each; the edges are values with few digits. */
function binned(values: Float64Array): Column {
  const sorted = values.toSorted();
  const edges: number[] = [];
  for (let bin = 1; bin < BINS; bin += 1) {
    const edge = rounded(at(sorted, Math.floor((bin * sorted.length) / BINS)));
    if (edge > (edges.at(-1) ?? at(sorted, 0))) edges.push(edge);
  }
  const last = at(sorted, sorted.length - 1);
  // Few rows have this sign.
  if (edges.length === 0 && last > at(sorted, 0)) edges.push(last);
  const bins = Uint8Array.from(values, (value) => edges.filter((edge) => value >= edge).length);
  return { bins, edges };
}

function at(values: Float64Array | Uint8Array | Int32Array, index: number): number {
  return values[index] ?? 0;
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** Returns the same numbers from 0 to 1 at each run (mulberry32). */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
