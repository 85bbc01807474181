import { readdir } from 'node:fs/promises';

export interface FamilyMember {
  readonly pid: number;
  readonly parent: number;
}

/**
 * Returns a process and all of its descendants, as `read` describes them. `read` resolves with undefined for a process
 * that has ended meanwhile. Empty on systems without `/proc`.
 */
export async function familyOf<T extends FamilyMember>(
  root: number,
  read: (pid: number) => Promise<T | undefined>,
): Promise<readonly T[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const all = (await Promise.all(pids.map(read))).filter((found) => found !== undefined);
  const family = new Set([root]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
}
