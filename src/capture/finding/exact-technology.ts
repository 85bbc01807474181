import type { Technology } from '../result/host-facts.ts';

/**
 * Returns the condition that captures with this software in this version meet, and no others. `version`: empty for none.
 * Commas are spaces in it: the condition separates several technologies by commas.
 */
export function exactTechnology({ name, version }: Pick<Technology, 'name' | 'version'>): string {
  return (version === '' ? `${name}/` : `${name}/${version}/`).replaceAll(',', ' ');
}
