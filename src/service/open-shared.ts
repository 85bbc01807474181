import type { CaptureService, Shared } from './capture-service.ts';

/**
 * Returns a shared link with the view of the key that made it. A link whose captures are gone is removed: ids are never
 * used again, so it could show nothing any more.
 */
export async function openShared(whole: CaptureService, id: string, now: number): Promise<Shared | undefined> {
  const link = await whole.sharedLinks.get(id, now);
  if (link === undefined) return undefined;
  const service = link.sees === null ? whole : whole.onlyOf(link.sees);
  const captures = link.other === null ? [link.capture] : [link.capture, link.other];
  const records = await Promise.all(captures.map((capture) => service.results.get(capture)));
  if (records.every((record) => record !== undefined)) return { link, service };
  await whole.sharedLinks.remove([id]);
  return undefined;
}
