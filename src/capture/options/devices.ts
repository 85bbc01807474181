import { mostSimilar } from '../basics/similar-names.ts';
import list from './device-list.json' with { type: 'json' };
import type { Viewport } from './screenshot.ts';

/** The viewport and user agent of an emulated device. */
export interface Device {
  readonly name: string;
  readonly viewport: Viewport;
  readonly userAgent: string;
}

/** Number of device names suggested for an unknown one. */
const MAX_SUGGESTIONS = 5;

/** Playwright's device list, written by `scripts/build-device-list.js` when npm installs or builds. */
const DEVICES: Readonly<Record<string, Omit<Device, 'name'>>> = list;

/** Finds a device by name, ignoring case; undefined when there is none. */
export function findDevice(name: string): Device | undefined {
  const wanted = plain(name);
  const found = Object.entries(DEVICES).find(([candidate]) => plain(candidate) === wanted);
  return found === undefined ? undefined : { name: found[0], ...found[1] };
}

/** Returns the device names most similar to `name`, most similar first. */
export function nearestDevices(name: string): readonly string[] {
  return mostSimilar(name, Object.keys(DEVICES), MAX_SUGGESTIONS);
}

function plain(name: string): string {
  return name.trim().toLowerCase();
}
