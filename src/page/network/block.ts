import type { Protocol } from 'devtools-protocol';
import type { ResourceType } from '../../capture/options/network.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { InterceptionRule, PausedRequest } from './intercept.ts';
import { isUnsent } from './own-origin.ts';

/** The protocol's names of each type. */
const PROTOCOL_TYPES: Readonly<Record<ResourceType, readonly Protocol.Network.ResourceType[]>> = {
  stylesheet: ['Stylesheet'],
  image: ['Image'],
  media: ['Media'],
  font: ['Font'],
  script: ['Script'],
  xhr: ['XHR', 'Fetch', 'EventSource'],
  other: ['Other', 'Ping', 'CSPViolationReport'],
};

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
      ...[...types].map((resourceType) => ({ urlPattern: '*', resourceType })),
      ...(block?.urls ?? []).map((url) => ({ urlPattern: url.replace(/[\\?]/g, '\\$&') })),
    ],
    judge: (paused) => {
      if (!isUnsent(paused) || isPageItself(paused)) return undefined;
      const unwanted = types.has(paused.resourceType) || globs.some((glob) => glob(paused.request.url));
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
