import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { patience, startActor } from '../support/actor.ts';
import { browserStartedBy } from '../support/browser-script.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { startNameServer } from '../support/name-server.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

describe('name lookups of a browser', () => {
  const site = siteForSuite();

  it.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
    'sends no host names in WebRTC candidates to the resolver of the machine (needs root)',
    async () => {
      await using nameServer = await startNameServer(() => 'none', { host: '127.0.0.153', port: 53 });
      const { title } = await captureWithResolver('127.0.0.153', site.url('/webrtc'));
      expect(title).toBe('the candidates were taken');
      // The wrapper script looked up control.test, so lookups by the browser would be recorded, too.
      expect(new Set(nameServer.asked)).toEqual(new Set(['control.test']));
    },
  );
});

/** Captures with a browser in a mount namespace whose resolver asks `nameServer`. */
async function captureWithResolver(nameServer: string, url: string) {
  const configuration = join(await makeDirectory(), 'resolv.conf');
  await writeFile(configuration, `nameserver ${nameServer}\n`);
  const script = `mount --bind ${configuration} /etc/resolv.conf && getent hosts control.test; exec "$@"`;
  const browserPath = await browserStartedBy(
    (browser) => `exec unshare --user --map-root-user --mount sh -c '${script}' sh ${browser} "$@"`,
  );
  const running = await startActor({ browserPath, sandbox: 'off' });
  try {
    return await running.actor.capture(captureRequest(url, { delayMs: 500 }), patience);
  } finally {
    await running.stop();
  }
}
