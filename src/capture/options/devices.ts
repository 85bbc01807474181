import list from './device-list.json' with { type: 'json' };
import type { Viewport } from './screenshot.ts';

/** The viewport and user agent of an emulated device. */
export interface Device {
  readonly viewport: Viewport;
  readonly userAgent: string;
}

/** Number of device names suggested for an unknown one. */
const MAX_SUGGESTIONS = 5;

/**
 * Playwright's device list, printed by `node scripts/device-list.ts`. Loading Playwright for it would block the event
 * loop for 0.4 s and hold 71 MB.
 */
const DEVICES: Readonly<Record<string, Device>> = list;

/** Finds a device by name, ignoring case; undefined when there is none. */
export function findDevice(name: string): Device | undefined {
  const wanted = plain(name);
  return Object.entries(DEVICES).find(([candidate]) => plain(candidate) === wanted)?.[1];
}

/** Returns the device names most similar to `name`, most similar first. */
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

/** Dice coefficient of the pairs of neighbouring characters of two names, 0 to 1. */
function likeness(a: string, b: string): number {
  const pairsOfA = pairs(a);
  const pairsOfB = pairs(b);
  const shared = [...pairsOfA].filter((pair) => pairsOfB.has(pair)).length;
  return (2 * shared) / Math.max(1, pairsOfA.size + pairsOfB.size);
}

function pairs(text: string): ReadonlySet<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
}
