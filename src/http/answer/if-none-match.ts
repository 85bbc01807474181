/**
 * Returns whether an If-None-Match header names the representation that would be sent, by weak comparison (RFC 9110,
 * 13.1.2). `Cache-Control: no-cache`, which fetch in browsers adds, concerns caches only and is ignored.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
