import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { z } from 'zod';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

type Look = readonly [colorScheme: 'light' | 'dark', viewport: { readonly width: number; readonly height: number }];

/** Colours and screens in which each view must have no violation. */
export const LOOKS: readonly Look[] = [
  ['light', { width: 1280, height: 800 }],
  ['dark', { width: 1280, height: 800 }],
  ['dark', { width: 390, height: 844 }],
  ['light', { width: 390, height: 844 }],
];

/** Evaluates to the number of pixels by which the page is wider than its window. */
export const OVERFLOW = 'document.documentElement.scrollWidth - innerWidth';
/** Resolves when the page has drawn a change, and what changes gradually has reached its end. */
const DRAWN = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => {
  for (const each of document.getAnimations()) {
    if (each.effect.getComputedTiming().endTime < Infinity) each.finish();
  }
})`;

const Findings = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

/**
 * Returns the violations of WCAG 2.2 AA that axe-core finds on the page, or in the elements of a selector, one line for
 * each element. `rules`: names or groups of the rules to check.
 */
export async function violations(page: Page, part?: string, rules = RULES): Promise<readonly string[]> {
  // Nothing is gathered of elements without a violation. axe stays loaded in a document.
  const options = { runOnly: rules, resultTypes: ['violations'] };
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const found = await page.evaluate(
    `axe.run(${JSON.stringify(part) ?? 'document'}, ${JSON.stringify(options)}).then((r) => r.violations)`,
  );
  return Findings.parse(found).flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/**
 * Expects that the page has no violation and is not wider than its window, in all colours and on all screens. `act` is
 * done in each of them beforehand; `part` is a selector of what is examined, by default everything.
 */
export async function expectAccessible(
  page: Page,
  {
    looks = LOOKS,
    act = async () => {},
    part,
  }: { looks?: readonly Look[]; act?: () => Promise<unknown>; part?: string } = {},
): Promise<void> {
  for (const [colorScheme, viewport] of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await act();
    await page.evaluate(DRAWN);
    const look = `in ${colorScheme} colours on a screen of ${viewport.width} px`;
    expect(await violations(page, part), look).toEqual([]);
    expect(await page.evaluate(OVERFLOW), look).toBe(0);
  }
}
