import { fingerprintOf, keyDigest } from '../../capture/basics/key-digest.ts';
import { visibleKey } from '../../capture/client.ts';
import type { CaptureService, ServiceView } from '../../service/capture-service.ts';
import type { Caller, HttpContext } from '../state.ts';
import { callerFinder, callerOf, listedKeyOf, UNNAMED } from './callers.ts';
import type { AcceptedKeys, KeyRing } from './key-ring.ts';

/** The key that made something which is used later without a key. */
export interface Maker {
  /** Its name; null for a key without one. */
  readonly apiKeyName: string | null;
  /** First digits of its SHA-256; null for a service without keys. */
  readonly fingerprint: string | null;
}

/** Returns the key of a request, as the maker of what it asks for. */
export function makerOf(ctx: Pick<HttpContext, 'state'>): Maker {
  const { client } = ctx.state;
  return { apiKeyName: callerOf(ctx).apiKeyName, fingerprint: client === undefined ? null : fingerprintOf(client) };
}

/** The service as a maker sees it. */
export interface MakerView {
  readonly service: ServiceView;
  /** The key whose captures alone it sees, as `visibleKey` returns it. */
  readonly sees: string | undefined;
  /** The key whose watches it sees; undefined: those of all. */
  readonly ofKey: string | undefined;
}

/** Returns a function that finds what the key of a maker sees now; undefined when it is not accepted any more. */
export function makerViews(keys: KeyRing, isolateKeys: boolean, service: CaptureService) {
  let find: (maker: Maker) => Caller | undefined = () => undefined;
  keys.follow((accepted) => {
    find = makerFinder(accepted, isolateKeys);
  });
  return (maker: Maker): MakerView | undefined => {
    const caller = find(maker);
    const ofKey = caller && listedKeyOf(caller);
    if (caller === undefined || ofKey === null) return undefined;
    const sees = visibleKey(caller);
    return { service: sees === undefined ? service : service.onlyOf(sees), sees, ofKey };
  };
}

function makerFinder({ apiKey, namedKeys }: AcceptedKeys, isolateKeys: boolean) {
  const callerWith = callerFinder(namedKeys, isolateKeys);
  const named = new Map(namedKeys.map(({ name, key }) => [name, callerWith(keyDigest(key))]));
  const digests = apiKey.map(keyDigest).filter((digest) => callerWith(digest)?.apiKeyName == null);
  return ({ apiKeyName, fingerprint }: Maker): Caller | undefined => {
    if (apiKeyName !== null) return named.get(apiKeyName);
    if (fingerprint === null) return apiKey.length === 0 ? UNNAMED : undefined;
    return digests.some((digest) => fingerprintOf(digest) === fingerprint) ? UNNAMED : undefined;
  };
}
