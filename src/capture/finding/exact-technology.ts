import type { Technology } from '../result/host-facts.ts';

/** Returns the condition that captures with this software in this version meet, and no others. `version`: empty for none. */
export function exactTechnology({ name, version }: Pick<Technology, 'name' | 'version'>): string {
  return version === '' ? `${name}/` : `${name}/${version}/`;
}
