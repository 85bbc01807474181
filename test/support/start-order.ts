import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { BESIDE } from './busy-files.ts';

/**
 * Files that take long for their size, in the order in which they start. Vitest starts the largest files first where it
 * knows no times of an earlier run: these came last, and the run waited for one of them.
 */
const LONG = [
  'test/docs/examples.test.ts',
  'test/faults/soak.test.ts',
  'test/bin/install.test.ts',
  'test/actors/playwright-driver.test.ts',
];

/**
 * Files that mostly wait for deadlines, longest first. One of them at a time costs nothing, because the others keep the
 * cores busy; several together leave them idle.
 */
const WAITING = [
  'test/actors/screenshot-full-page.test.ts',
  'test/actors/screenshot-scroll.test.ts',
  'test/actors/last-frame.test.ts',
  'test/actors/interaction.test.ts',
  'test/actors/wait.test.ts',
  'test/actors/content-banners.test.ts',
  'test/stability/stability.test.ts',
  'test/actors/schemeless.test.ts',
  'test/actors/at-deadlines.test.ts',
  'test/faults/outage.test.ts',
  'test/actors/wait-unfinished.test.ts',
  'test/http/reuse.test.ts',
  'test/service/dial-first.test.ts',
  'test/actors/visitor-language.test.ts',
  'test/actors/content-page.test.ts',
  'test/actors/browser-alone.test.ts',
];

/** Files whose pages keep all cores busy. Beside other files, they starved captures until these failed. */
const LAST = ['test/actors/browser-neighbours.test.ts'];

/**
 * The order in which the files of tests start. Those of one browser come together: a worker runs files of one browser
 * only, and each new worker loads everything again.
 */
export default class StartOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ofBrowsers = Map.groupBy(await super.sort(files), ({ project }) => project);
    return [...ofBrowsers.values()].flatMap((sorted) => this.#inOrder(sorted));
  }

  #inOrder(sorted: readonly TestSpecification[]): TestSpecification[] {
    const named = (names: readonly string[]) =>
      names.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)));
    const [long, beside, waiting, last] = [named(LONG), named(BESIDE), named(WAITING), named(LAST)];
    const placed = new Set([...long, ...beside, ...waiting, ...last]);
    const rest = sorted.filter((file) => !placed.has(file));
    return [...spread(beside, [...long, ...spread(waiting, rest)]), ...last];
  }
}

/** Puts files among others, at even distances from the first on. */
function spread(files: readonly TestSpecification[], others: readonly TestSpecification[]): TestSpecification[] {
  const distance = others.length / files.length;
  const placed = [
    ...others.map((file, at) => ({ file, at })),
    ...files.map((file, nth) => ({ file, at: nth * distance - 0.5 })),
  ];
  return placed.toSorted((one, other) => one.at - other.at).map(({ file }) => file);
}
