import { NODATA, NOTFOUND } from 'node:dns';
import { CapstanError } from '../capture/errors.ts';
import { type DeadReason, type DialCounts, noDials } from '../capture/operation/dial-stats.ts';

const BY_CODE: Readonly<Record<string, DeadReason>> = {
  [NOTFOUND]: 'no_name',
  [NODATA]: 'no_name',
  EBADNAME: 'no_name',
  ESERVFAIL: 'name_server',
  EREFUSED: 'name_server',
  ENOTIMP: 'name_server',
  ETIMEOUT: 'name_server',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ETIMEDOUT: 'silent',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  EADDRNOTAVAIL: 'no_route',
};

/** Counts dials by how they end. */
export function countDials() {
  const counts = noDials();
  return {
    get counts(): DialCounts {
      return { ...counts, dead: { ...counts.dead } };
    },
    /** Counts a dial, unless its signal is aborted before it ends. */
    async count<T>(dial: Promise<T>, signal: AbortSignal): Promise<T> {
      counts.dialling += 1;
      try {
        const reached = await dial;
        counts.reached += 1;
        return reached;
      } catch (error) {
        if (!signal.aborted) counts.dead[reasonOf(error)] += 1;
        throw error;
      } finally {
        counts.dialling -= 1;
      }
    },
  };
}

function reasonOf(error: unknown): DeadReason {
  if (error instanceof CapstanError) {
    if (error.code === 'target_forbidden') return 'forbidden';
    if (error.code === 'proxy_failed') return 'proxy';
    if (error.code === 'capture_timeout') return 'silent';
  }
  for (let cause = error; cause !== undefined && cause !== null; ) {
    if (typeof cause !== 'object') break;
    const known = 'code' in cause ? BY_CODE[String(cause.code)] : undefined;
    if (known !== undefined) return known;
    cause = 'cause' in cause ? cause.cause : undefined;
  }
  return 'other';
}
