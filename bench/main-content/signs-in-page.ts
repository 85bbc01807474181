import { classOf, nameOf } from '../../src/page-scripts/dom.ts';
import { readSigns } from '../../src/page-scripts/main-content/main-content.ts';
import type { Run } from '../../src/page-scripts/main-content/runs.ts';
import { copyPainted } from '../../src/page-scripts/painted/copy.ts';
import type { PaintedLimits } from '../../src/page-scripts/painted/limits.ts';

/** Runs in a page, bundled. Reads the runs of text that the page has painted, and their signs. */
export function signsInPage(limits: PaintedLimits) {
  const { copy, body } = copyPainted(limits);
  const { runs, signs, described } = readSigns(copy, body);
  const paths: string[] = [];
  const pathOf = ({ tags, around }: Run) => {
    if (tags.includes('pre') || tags.includes('td') || tags.includes('th')) return undefined;
    const path = around.map((element) => `${nameOf(element)}.${classOf(element)}`).join('>');
    if (!paths.includes(path)) paths.push(path);
    return paths.indexOf(path);
  };
  return runs.map((run, at) => {
    const { text, level } = run;
    return { text, level, signs: signs[at], described: described?.[at], path: pathOf(run) };
  });
}
