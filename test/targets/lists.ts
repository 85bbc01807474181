import type { ListReport, ScanSettings } from '../../src/capture/work/scan.ts';
import { targetsOf } from '../../src/targets/entry.ts';
import { type ListOptions, readList } from '../../src/targets/read-list.ts';
import { SeenTargets } from '../../src/targets/seen-targets.ts';

/** Reads a list that arrives in small pieces. Returns its targets as URLs, `?` after those whose scheme is a guess. */
export async function listed(
  list: string | Uint8Array,
  expansion: Pick<ScanSettings, 'ports' | 'schemes'> = {},
  openSitemap?: ListOptions['openSitemap'],
): Promise<{ readonly urls: readonly string[]; readonly report: ListReport }> {
  const urls: string[] = [];
  const seen = new SeenTargets();
  const entries = readList(pieces(Buffer.from(list)), { expansion, maxTargets: 1_000, openSitemap });
  for (;;) {
    const step = await entries.next();
    if (step.done === true) return { urls, report: step.value };
    for (const { entry } of step.value)
      for (const target of targetsOf(entry, expansion))
        if (seen.add(target)) urls.push(target.url + (target.schemeAssumed ? '?' : ''));
  }
}

export async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.byteLength; at += 5) yield bytes.subarray(at, at + 5);
}
