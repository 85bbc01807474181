/**
 * Whether an If-None-Match header names the representation that would be sent: the comparison is the weak one
 * (RFC 9110, 13.1.2). `Cache-Control: no-cache` beside it, which browsers' fetch adds, is for caches on the way.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
