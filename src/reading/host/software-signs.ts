import type { SoftwareSigns } from '../../capture/result/host-facts.ts';
import type { Snapshot } from '../../capture/result/snapshot.ts';
import type { Gathered } from '../../page/evidence/notes.ts';
import type { Signs } from '../../page-scripts/signs/read-signs.ts';

/** Returns what the software of a page is named by, of what was read of it. */
export function softwareSigns(
  { evidence, headers }: Gathered,
  signs: Signs | null,
  { title, finalUrl }: Pick<Snapshot, 'title' | 'finalUrl'>,
): SoftwareSigns {
  const host = URL.parse(finalUrl)?.hostname ?? '';
  const isOwn = (domain: string) =>
    host === domain.replace(/^\./, '') || host.endsWith(`.${domain.replace(/^\./, '')}`);
  return {
    url: finalUrl,
    headers: headers ?? [],
    cookies: evidence.cookies.items.filter(({ domain }) => isOwn(domain)).map(({ name, value }) => ({ name, value })),
    metas: signs?.software.metas ?? [],
    scripts: signs?.software.scripts ?? [],
    libraries: evidence.libraries?.items ?? [],
    title,
    favicon: evidence.favicon?.sha256 ?? null,
  };
}
