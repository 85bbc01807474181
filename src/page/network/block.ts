import type { Protocol } from 'devtools-protocol';
import type { ResourceType } from '../../capture/options/network.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { InterceptionRule, PausedRequest } from './intercept.ts';
import { isUnsent } from './own-origin.ts';

type ProtocolType = Protocol.Network.ResourceType;

/** The protocol's names of each type. */
const PROTOCOL_TYPES: Readonly<Record<ResourceType, readonly ProtocolType[]>> = {
  stylesheet: ['Stylesheet'],
  image: ['Image'],
  media: ['Media'],
  font: ['Font'],
  script: ['Script'],
  xhr: ['XHR', 'Fetch', 'EventSource'],
  other: ['Other', 'Ping', 'CSPViolationReport', 'Prefetch'],
};

/** Chromium pauses prefetched links as `Fetch`, and the requests of `fetch()` as `XHR`. */
const PAUSED_AS: Readonly<Partial<Record<ProtocolType, ProtocolType>>> = { Prefetch: 'Fetch' };

function typeOf({ resourceType, request: { headers } }: PausedRequest): ProtocolType {
  return headers['Sec-Purpose']?.startsWith('prefetch') === true ? 'Prefetch' : resourceType;
}

/**
 * Returns whether a paused request is for the page itself, which is never blocked: there would be nothing to capture.
 */
export type IsPageItself = (paused: PausedRequest) => boolean;

/** Returns a rule for the requests that `block` names; none when it names nothing. */
export function blockRules({ block }: CaptureRequest, isPageItself: IsPageItself): InterceptionRule[] {
  const types = new Set((block?.types ?? []).flatMap((type) => PROTOCOL_TYPES[type]));
  const globs = (block?.urls ?? []).map(parseGlob);
  if (types.size === 0 && globs.length === 0) return [];
  const rule: InterceptionRule = {
    patterns: [
      ...[...types].map((type) => ({ urlPattern: '*', resourceType: PAUSED_AS[type] ?? type })),
      ...(block?.urls ?? []).map((url) => ({ urlPattern: url.replace(/[\\?]/g, '\\$&') })),
    ],
    judge: (paused) => {
      if (!isUnsent(paused) || isPageItself(paused)) return undefined;
      const unwanted = types.has(typeOf(paused)) || globs.some((glob) => glob(paused.request.url));
      return unwanted ? { verdict: 'fail' } : undefined;
    },
  };
  return [rule];
}

/** Returns whether a whole text matches a pattern in which `*` stands for any characters. Never backtracks. */
function parseGlob(pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at + last.length <= text.length;
  };
}
