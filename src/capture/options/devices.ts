import list from './device-list.json' with { type: 'json' };
import type { Viewport } from './screenshot.ts';

/** How a device shows pages, and what it calls itself. */
export interface Device {
  readonly viewport: Viewport;
  readonly userAgent: string;
}

/** Names that are suggested where one is unknown. */
const MAX_SUGGESTIONS = 5;

/**
 * Playwright's, as `node scripts/device-list.ts` prints them: to be told by its library itself would hold the event loop
 * for 0.4 s and take 71 MB for good.
 */
const DEVICES: Readonly<Record<string, Device>> = list;

/** The device of that name, however its letters are written; undefined when there is none. */
export function findDevice(name: string): Device | undefined {
  const wanted = plain(name);
  return Object.entries(DEVICES).find(([candidate]) => plain(candidate) === wanted)?.[1];
}

/** Names of devices that are written most like `name`, the likest first. */
export function nearestDevices(name: string): readonly string[] {
  const wanted = plain(name);
  return Object.keys(DEVICES)
    .map((candidate) => ({ candidate, likeness: likeness(wanted, plain(candidate)) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, MAX_SUGGESTIONS)
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
