import { freePort } from '../../test/support/free-port.ts';
import { startSilentListener } from '../../test/support/silent-listener.ts';

/** At most 8 targets of a host are dialled at once. */
const SILENT_HOSTS = 100;

/** Targets without a page: a third refuses the connection, a third has no name, a third never answers. */
export async function startDeadTargets(count: number): Promise<AsyncDisposable & { readonly urls: readonly string[] }> {
  const silent = await startSilentListener(Array.from({ length: SILENT_HOSTS }, (_, at) => `127.0.1.${at + 1}`));
  const refusing = await freePort();
  const urls = Array.from({ length: count }, (_, at) => {
    if (at % 3 === 0) return `http://127.0.0.1:${refusing}/${at}`;
    return at % 3 === 1 ? `http://name-${at}.invalid/` : `http://${silent.targets[at % SILENT_HOSTS]}/${at}`;
  });
  return { urls, [Symbol.asyncDispose]: () => silent[Symbol.asyncDispose]() };
}
