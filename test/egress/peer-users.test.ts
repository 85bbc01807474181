import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress, type EgressOptions } from '../../src/egress/create-egress.ts';
import { type Egress, type EgressProxy, NOBODY_UID } from '../../src/egress/egress.ts';
import { openSocketDiagnosis } from '../../src/egress/socket-diagnosis.ts';
import { createSocketTable } from '../../src/egress/socket-table.ts';
import { startProxy } from '../support/proxy.ts';
import { type Listening, listening } from './listening.ts';

/** User id that differs from those of root, of "nobody", and of the user who runs the tests. */
const OTHER_UID = 54_321;
const isRoot = process.getuid?.() === 0;

describe.each([
  ['that asks the kernel for each connection', [openSocketDiagnosis]],
  ['that reads the table of sockets', [async () => createSocketTable()]],
])('user check of an egress proxy %s', (_way, userLookups) => {
  let site: Listening;
  let visits: number;
  let egress: Egress;
  let egressProxy: EgressProxy;

  beforeEach(async () => {
    visits = 0;
    site = await listening(
      http.createServer((_request, response) => {
        visits += 1;
        response.end('hello');
      }),
    );
  });
  afterEach(async () => {
    await egress.close();
    await site[Symbol.asyncDispose]();
  });

  async function open(options: Partial<EgressOptions> = {}): Promise<URL> {
    const policy = createTargetPolicy({ allow: ['127.0.0.1'], deny: [] });
    const warn = (text: string) => expect.unreachable(text);
    egress = createEgress({ policy, userLookups, warn, ...options });
    egressProxy = await egress.openEgressProxy();
    return new URL(egressProxy.proxyServer);
  }

  async function ask({ hostname, port }: URL): Promise<string> {
    const request = http.get({ host: hostname, port, path: `http://127.0.0.1:${site.port}/`, agent: false });
    const [response] = await once(request, 'response');
    return text(response);
  }

  /** Sends a request as another user of this machine, then runs `next`. Resolves with what the program prints. */
  async function askAs(uid: number, { port }: URL, next = 'socket.pipe(process.stdout)'): Promise<string> {
    const program = `
      const socket = require('node:net').connect(${port}, '127.0.0.1');
      socket.on('error', () => {});
      const request = 'GET http://127.0.0.1:${site.port}/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n';
      socket.write(request, () => { ${next} });
    `;
    // Uses the `node` on the PATH, because other users may not be able to read that of this checkout.
    const { stdout } = await promisify(execFile)('node', ['-e', program], { uid, gid: uid, cwd: '/' });
    return stdout;
  }

  it('serves the user who runs the service', async () => {
    expect(await ask(await open())).toBe('hello');
  });

  it('closes connections of other users without reading from them', async () => {
    const proxy = await open({ proxyUsers: [OTHER_UID] });
    await expect(ask(proxy)).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(visits).toBe(0);
  });

  it.runIf(isRoot)('serves the browsers of a service that runs as root, but no other user', async () => {
    const proxy = await open();
    expect(await askAs(OTHER_UID, proxy)).toBe('');
    expect(visits).toBe(0);
    expect(await askAs(NOBODY_UID, proxy)).toContain('hello');
  });

  it.runIf(isRoot)(
    'ignores connections of another user that are closed before the system reports their user',
    async () => {
      const proxy = await open();
      for (let times = 0; times < 5; times += 1) await askAs(OTHER_UID, proxy, 'socket.destroy()');
      for (let times = 0; times < 5; times += 1) expect(await ask(proxy)).toBe('hello');
      expect(visits).toBe(5);
    },
  );

  it.runIf(isRoot)('does not use the credentials of the caller’s proxy for other users', async () => {
    await using upstream = await startProxy({ credentials: 'harbour:master' });
    const proxy = await open();
    const credentials = { username: 'harbour', password: 'master' };
    egressProxy.reset({ server: `http://127.0.0.1:${upstream.port}`, credentials });
    expect(await askAs(OTHER_UID, proxy)).toBe('');
    expect(upstream.asked).toEqual([]);
    expect(await ask(proxy)).toBe('hello');
    expect(upstream.asked).toHaveLength(1);
  });

  it('refuses every connection after the capture has ended', async () => {
    const proxy = await open();
    expect(await ask(proxy)).toBe('hello');
    egressProxy.end();
    await expect(ask(proxy)).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(visits).toBe(1);
    egressProxy.reset();
    expect(await ask(proxy)).toBe('hello');
  });

  it('serves each of many simultaneous connections', async () => {
    const proxy = await open();
    expect(await Promise.all(Array.from({ length: 50 }, () => ask(proxy)))).toEqual(Array(50).fill('hello'));
  });

  it('ignores a connection that is closed before its user is looked up', async () => {
    const proxy = await open();
    const gone = net.connect({ host: proxy.hostname, port: Number(proxy.port) });
    await once(gone, 'connect');
    gone.resetAndDestroy();
    expect(await ask(proxy)).toBe('hello');
  });
});

describe('user check whose lookups fail at first', () => {
  const RETEST_MS = 60_000;
  const policy = createTargetPolicy({ allow: ['127.0.0.1'], deny: [] });
  let now = 0;
  let tests = 0;
  let warnings: string[];
  let site: Listening;
  let egress: Egress;

  beforeEach(async () => {
    [now, tests, warnings] = [0, 0, []];
    site = await listening(http.createServer((_request, response) => response.end('hello')));
  });
  afterEach(async () => {
    await egress.close();
    await site[Symbol.asyncDispose]();
  });

  async function open(options: Partial<EgressOptions> = {}): Promise<EgressProxy> {
    const lookup = async () => {
      tests += 1;
      if (tests === 1) throw Object.assign(new Error('listen EMFILE'), { code: 'EMFILE' });
      return tests === 2 ? null : createSocketTable();
    };
    const warn = (text: string) => warnings.push(text);
    egress = createEgress({ policy, userLookups: [lookup], warn, clock: () => now, ...options });
    return egress.openEgressProxy();
  }

  async function ask({ proxyServer }: EgressProxy): Promise<string | null> {
    const { hostname: host, port } = new URL(proxyServer);
    const request = http.get({ host, port, path: `http://127.0.0.1:${site.port}/`, agent: false });
    try {
      const [response] = await once(request, 'response');
      return await text(response);
    } catch {
      return null;
    }
  }

  it('tests them again at most once a minute until they work, and warns once', async () => {
    const egressProxy = await open({ proxyUsers: [OTHER_UID] });
    const answers = [];
    for (const later of [0, RETEST_MS - 1, 1, 0, RETEST_MS, RETEST_MS]) {
      now += later;
      answers.push([tests, await ask(egressProxy), tests]);
    }
    expect(answers).toEqual([
      [0, 'hello', 1],
      [1, 'hello', 1],
      [1, 'hello', 2],
      [2, 'hello', 2],
      [2, null, 3],
      [3, null, 3],
    ]);
    expect(warnings).toEqual([expect.stringContaining('does not report the users of connections')]);
  });

  it('lets the next capture use the credentials of its proxy, but not one that may have accepted another user', async () => {
    await using upstream = await startProxy({ credentials: 'harbour:master' });
    const proxy = {
      server: `http://127.0.0.1:${upstream.port}`,
      credentials: { username: 'harbour', password: 'master' },
    };
    const egressProxy = await open();
    egressProxy.reset(proxy);
    expect(await ask(egressProxy)).toBeNull();
    now += RETEST_MS;
    await ask(egressProxy);
    now += RETEST_MS;
    expect(await ask(egressProxy)).toBeNull();
    expect([tests, upstream.asked]).toEqual([3, []]);
    egressProxy.reset(proxy);
    expect(await ask(egressProxy)).toBe('hello');
  });

  it.each([0, 1, 2])('works again after a test with %i free descriptors', async (free) => {
    egress = createEgress({ policy });
    const program = `
      import { closeSync, openSync } from 'node:fs';
      import { createPeerCheck } from ${JSON.stringify(new URL('../../src/egress/peer-users.ts', import.meta.url).href)};
      import { createSocketTable } from ${JSON.stringify(new URL('../../src/egress/socket-table.ts', import.meta.url).href)};
      let now = 0;
      const lookups = [async () => createSocketTable()];
      const peers = createPeerCheck({ users: [], onUnavailable: () => console.log('warned'), lookups, clock: () => now });
      const taken = [];
      try { for (;;) taken.push(openSync('/dev/null')); } catch {}
      for (const one of taken.splice(0, ${free})) closeSync(one);
      const before = await peers.isReliable();
      for (const one of taken) closeSync(one);
      now += ${RETEST_MS};
      console.log(before, await peers.isReliable());
    `;
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -n 100; exec "$0" --no-warnings --input-type=module -e "$1"',
      process.execPath,
      program,
    ]);
    expect(stdout).toBe('warned\nfalse true\n');
  });
});
