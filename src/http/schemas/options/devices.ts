import { createRequire } from 'node:module';
import type { Viewport } from '../../../capture-request.ts';

/** How a device shows pages, and what it calls itself. */
export interface Device {
  readonly viewport: Viewport;
  readonly userAgent: string;
}

/** Names that are suggested where one is unknown. */
const MOST_SUGGESTIONS = 5;

/**
 * Playwright's descriptors by name. Its library is loaded when a request names the first device (0.3 s, 80 MB), and at
 * once: schemas cannot wait.
 */
function descriptors(): typeof import('playwright-core').devices {
  const playwright: typeof import('playwright-core') = createRequire(import.meta.url)('playwright-core');
  return playwright.devices;
}

/** The device of that name, however its letters are written; undefined when there is none. */
export function findDevice(name: string): Device | undefined {
  const wanted = plain(name);
  const found = Object.entries(descriptors()).find(([candidate]) => plain(candidate) === wanted)?.[1];
  if (found === undefined) return undefined;
  const { viewport, userAgent, deviceScaleFactor, isMobile, hasTouch } = found;
  return { viewport: { ...viewport, deviceScaleFactor, mobile: isMobile, touch: hasTouch }, userAgent };
}

/** Names of devices that are written most like `name`, the likest first. */
export function nearestDevices(name: string): readonly string[] {
  const wanted = plain(name);
  return Object.keys(descriptors())
    .map((candidate) => ({ candidate, likeness: likeness(wanted, plain(candidate)) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, MOST_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

function plain(name: string): string {
  return name.trim().toLowerCase();
}

/** Share of their pairs of neighbouring characters that two names have in common (Dice), 0 to 1. */
function likeness(a: string, b: string): number {
  const pairsOfA = pairs(a);
  const pairsOfB = pairs(b);
  const shared = [...pairsOfA].filter((pair) => pairsOfB.has(pair)).length;
  return (2 * shared) / Math.max(1, pairsOfA.size + pairsOfB.size);
}

function pairs(text: string): ReadonlySet<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
}
